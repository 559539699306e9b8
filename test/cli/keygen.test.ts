import { ensureCurve, type KeygenOptions } from '../../runtime/cli/keygen';
import { FluxqError } from '../../runtime/errors';
import { ApiError } from '../../runtime/kubernetes/errors';
import { checkCertificate } from '../../runtime/miniclusters/curve';

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly immutable?: boolean;
}

const refusal = (status: number) =>
  new ApiError({ status, reason: 'Unknown', message: 'no', retryAfterSeconds: undefined });

/** An apiserver that stores one Secret. */
class OneSecret {
  readonly writes: string[] = [];
  /** Another client writes this before the first write. */
  rival: Stored | undefined;

  constructor(public stored?: Stored) {}

  get options(): KeygenOptions {
    const client = {
      get: async (path: string) => {
        expect(path).toBe('/api/v1/namespaces/science/secrets/hello-curve');
        if (this.stored === undefined) throw refusal(404);
        return this.stored;
      },
      create: (path: string, body: object) => this.write('create', path, body as Stored),
      update: (path: string, body: object) => this.write('update', path, body as Stored),
    };
    return {
      client: client as KeygenOptions['client'],
      namespace: 'science',
      secret: 'hello-curve',
      cluster: 'hello',
    };
  }

  get text(): string {
    return Buffer.from(this.stored?.data?.['curve.cert'] ?? '', 'base64').toString();
  }

  private async write(verb: string, path: string, body: Stored): Promise<Stored> {
    this.writes.push(`${verb} ${path}`);
    if (this.rival !== undefined) {
      this.stored = this.rival;
      this.rival = undefined;
      throw refusal(409);
    }
    this.stored = body;
    return body;
  }
}

async function made(): Promise<Stored> {
  const cluster = new OneSecret();
  await ensureCurve(cluster.options);
  return cluster.stored!;
}

test('creates a missing Secret as immutable, with a certificate that brokers accept', async () => {
  const cluster = new OneSecret();
  expect(await ensureCurve(cluster.options)).toBe('made');
  expect(cluster.writes).toEqual(['create /api/v1/namespaces/science/secrets']);
  expect(cluster.stored).toMatchObject({
    kind: 'Secret',
    type: 'Opaque',
    immutable: true,
    metadata: { name: 'hello-curve', namespace: 'science' },
  });
  expect(() => checkCertificate(cluster.text, 'it')).not.toThrow();
});

test('keeps the certificate when it runs again', async () => {
  const cluster = new OneSecret(await made());
  const before = cluster.text;
  expect(await ensureCurve(cluster.options)).toBe('kept');
  expect(cluster.writes).toEqual([]);
  expect(cluster.text).toBe(before);
});

test('fills an existing Secret without a certificate, with the resourceVersion that it read', async () => {
  const cluster = new OneSecret({
    metadata: { name: 'hello-curve', resourceVersion: '7' },
    data: { other: 'eA==' },
  });
  expect(await ensureCurve(cluster.options)).toBe('made');
  expect(cluster.writes).toEqual(['update /api/v1/namespaces/science/secrets/hello-curve']);
  expect(cluster.stored).toMatchObject({ metadata: { resourceVersion: '7' }, data: { other: 'eA==' } });
  expect(() => checkCertificate(cluster.text, 'it')).not.toThrow();
});

test('keeps the certificate of another run that wrote first', async () => {
  const winner = await made();
  const cluster = new OneSecret();
  cluster.rival = winner;
  expect(await ensureCurve(cluster.options)).toBe('kept');
  expect(cluster.stored).toBe(winner);
});

test('refuses a Secret with another value and does not change it', async () => {
  const data = { 'curve.cert': Buffer.from('hunter2').toString('base64') };
  const cluster = new OneSecret({ metadata: { name: 'hello-curve' }, data });
  const error = await ensureCurve(cluster.options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(FluxqError);
  expect((error as FluxqError).message).toMatch(
    /^FLUXQ_CURVE_INVALID: Secret science\/hello-curve, key curve\.cert: line 1 must be a section/,
  );
  expect((error as FluxqError).message).not.toContain('hunter2');
  expect(cluster.writes).toEqual([]);
});

test('reports a Secret that it may not read, and does not create one', async () => {
  const { client, ...rest } = new OneSecret().options;
  const get = async () => {
    throw refusal(403);
  };
  await expect(ensureCurve({ ...rest, client: { ...client, get } })).rejects.toMatchObject({ status: 403 });
});
