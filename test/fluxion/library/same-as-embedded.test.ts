/** The histories themselves, on two embedded matchers, one behind gRPC: what the real library is compared with. */
import fc from 'fast-check';
import { connectFluxion } from '../../../runtime/fluxion/client/client';
import { embeddedFluxion } from '../../../runtime/fluxion/matcher/engine';
import { serveFluxion } from '../../../runtime/fluxion/server/engine-choice';
import { answers, histories } from './same-as-embedded';

test('random histories are answered through gRPC as in this process', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const server = await serveFluxion({ address: '127.0.0.1:0', engine: 'embedded', log });
  const remote = connectFluxion({ address: server.address });
  await fc.assert(
    fc.asyncProperty(histories, async (history) => {
      const plain = JSON.parse(JSON.stringify(await answers(embeddedFluxion(), history)));
      expect(JSON.parse(JSON.stringify(await answers(remote, history)))).toEqual(plain);
    }),
    { numRuns: 50 },
  );
  await remote.close();
  await server.stop();
});
