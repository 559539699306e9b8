/**
 * Boots rendered clusters with a real Flux; the pods are sandboxes on this machine. The suites require a Flux
 * (`FLUX_PREFIX`, or `flux` in PATH), bubblewrap, and the right to create networks; otherwise they are skipped, and
 * only a fake flux tests the scripts.
 */
import { type ChildProcess, spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import type { ManifestObject, MiniClusterSpec } from '../../constructs/minicluster';
import { render } from '../../runtime/cli/render';
import { makeCertificate } from '../../runtime/miniclusters/curve';
import { type Family, Network } from './network';
import { type Image, type Images, Pods } from './pods';

export const FLUX = fluxPrefix();
const isSupported =
  FLUX !== undefined && process.getuid?.() === 0 && ['bwrap', 'ip', 'nsenter', 'setpriv'].every(found);

function fluxPrefix(): string | undefined {
  const { FLUX_PREFIX } = process.env;
  if (FLUX_PREFIX !== undefined) return FLUX_PREFIX;
  const { stdout } = spawnSync('sh', ['-c', 'command -v flux'], { encoding: 'utf8' });
  return stdout === '' ? undefined : dirname(dirname(stdout.trim()));
}

function found(program: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
}

export const WITH_FLUX: Image = { folders: { [FLUX ?? '']: FLUX ?? '' }, path: [`${FLUX}/bin`] };

const CERTIFICATE = makeCertificate({ name: 'mc', hostname: 'test', madeAt: new Date(0) });

/** The manifests that `fluxqueue render` prints, and the Secret that they mount. */
export function manifests(spec: object, namespace?: string, name = 'mc'): ManifestObject[] {
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }) };
  const resource = { apiVersion: 'flux-framework.org/v1alpha2', kind: 'MiniCluster', metadata, spec };
  const { yaml } = render({ text: stringify(resource), source: 'test' });
  const documents = parseAllDocuments(yaml).map((document) => document.toJS() as ManifestObject);
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mc-curve' } };
  return [...documents, { ...secret, data: { 'curve.cert': CERTIFICATE } }];
}

export type Container = Partial<MiniClusterSpec['containers'][number]>;

export const SOCKET = 'local:///mnt/flux/config/run/flux/local';

/** One cluster at a time, which is removed after each test. */
export class Boot {
  private current: { pods?: Pods; network?: Network } = {};

  get network(): Network {
    return this.current.network!;
  }

  get pods(): Pods {
    return this.current.pods!;
  }

  start(families: readonly Family[]): void {
    this.current.network = new Network(families);
  }

  stop(): void {
    this.current.network?.remove();
  }

  /** Makes the pods of these manifests the cluster of this test. */
  boot(objects: readonly ManifestObject[], images: Images = () => WITH_FLUX): Pods {
    this.current.pods = new Pods(objects, images, this.network);
    return this.pods;
  }

  /** A cluster whose image contains Flux. */
  cluster(container: Container, more: Partial<MiniClusterSpec> = {}): Pods {
    const { flux = {}, ...rest } = more;
    const spec = {
      size: 2,
      containers: [{ image: 'app', ...container }],
      flux: { container: { disable: true }, ...flux },
      ...rest,
    };
    return this.boot(manifests(spec, 'lab'));
  }

  async remove(): Promise<void> {
    await this.current.pods?.remove();
    delete this.current.pods;
  }

  /** Runs a flux command in pod 0, as `kubectl exec` does. */
  async inLead(...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.pods.exec(0, [`${FLUX}/bin/flux`, 'proxy', SOCKET, ...words]);
    if (code !== 0) throw new Error(`${words.join(' ')}: ${code}: ${stderr}`);
    return stdout.trim();
  }

  /** The number of nodes that are up in the instance. */
  async nodesUp(): Promise<number> {
    const words = ['flux', 'resource', 'list', '-s', 'free', '-no', '{nnodes}'];
    return Number(await this.inLead(...words).catch(() => '0'));
  }
}

/** Defines tests that share one network; without a real Flux they are skipped. */
export function describeWithFlux(
  title: string,
  define: (boot: Boot) => void,
  families: readonly Family[] = ['ipv4'],
): void {
  (isSupported ? describe : describe.skip)(title, () => {
    const boot = new Boot();
    beforeAll(() => boot.start(families));
    afterEach(() => boot.remove());
    afterAll(() => boot.stop());
    define(boot);
  });
}

/** Waits until a container writes this text to its log. */
export function logged({ stderr }: ChildProcess, text: string): Promise<void> {
  return new Promise((resolve) => {
    let log = '';
    stderr!.on('data', (chunk: Buffer) => {
      log += chunk;
      if (log.includes(text)) resolve();
    });
  });
}

export const lines = (text: string) => text.trim().split('\n').sort();
