/** Random histories on two embedded matchers, one of them behind gRPC. */

import { connectFluxion } from '../../../runtime/fluxion/client/client';
import { EmbeddedEngine, embeddedFluxion } from '../../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../../runtime/fluxion/server/server';
import fc from '../../fast-check';
import { answers, histories } from './histories';

test('answers random histories through gRPC as in this process', async () => {
  const log = { info() {}, warn() {}, error() {} };
  const server = await startFluxionServer({ address: '127.0.0.1:0', engine: new EmbeddedEngine(), log });
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
