/** The conformance table through gRPC: a Unix socket, and TCP with TLS. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { serveFluxion } from '../../runtime/fluxion/server/engine-choice';
import { loopbackCertificate } from './certificates';
import { conformance, type Subject } from './conformance';

const log = { info() {}, warn() {}, error() {} };

describe('the embedded matcher behind a Unix socket', () => {
  conformance(
    async (): Promise<Subject> => {
      const folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
      const server = await serveFluxion({ address: `unix:${folder}/s.sock`, engine: 'embedded', log });
      const fluxion = connectFluxion({ address: server.address });
      const stop = async () => {
        await fluxion.close();
        await server.stop();
        await rm(folder, { recursive: true });
      };
      return { fluxion, stop };
    },
    { level: 'exact' },
  );
});

describe('the embedded matcher behind TCP with TLS', () => {
  conformance(
    async (): Promise<Subject> => {
      const tls = await loopbackCertificate();
      const server = await serveFluxion({ address: '127.0.0.1:0', engine: 'embedded', tls, log });
      const fluxion = connectFluxion({
        address: server.address,
        tls: { ca: tls.bundle, serverName: 'localhost' },
      });
      const stop = async () => {
        await fluxion.close();
        await server.stop();
      };
      return { fluxion, stop };
    },
    { level: 'exact' },
  );
});
