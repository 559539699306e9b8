/** The conformance scenarios through gRPC: over a Unix socket, and over TCP with TLS. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectFluxion } from '../../runtime/fluxion/client/client';
import { EmbeddedEngine } from '../../runtime/fluxion/matcher/engine';
import { startFluxionServer } from '../../runtime/fluxion/server/server';
import { loopbackCertificate } from './certificates';
import { type ConformanceServer, conformance } from './conformance';

const log = { info() {}, warn() {}, error() {} };

describe('the embedded matcher behind a Unix socket', () => {
  conformance(
    async (): Promise<ConformanceServer> => {
      const folder = await mkdtemp(join(tmpdir(), 'fluxion-'));
      const server = await startFluxionServer({
        address: `unix:${folder}/s.sock`,
        engine: new EmbeddedEngine(),
        log,
      });
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
    async (): Promise<ConformanceServer> => {
      const tls = await loopbackCertificate();
      const server = await startFluxionServer({
        address: '127.0.0.1:0',
        engine: new EmbeddedEngine(),
        tls,
        log,
      });
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
