import { checkCertificate, makeCertificate } from '../../runtime/miniclusters/curve';

/** Two key pairs and a certificate that flux-core's own tests accept. */
const PUBLIC = 'FYFE.@650VuUqRGygAtG.RC$A<cid63q(WEnR+&y';
const SECRET = '^Oto<5V$^d/V}kj6^Q[LRwdgAY5K3gE{gN2+1ox)';
const OTHER_PUBLIC = 'Viyg(M7U*Q6ZI=D6(q?]amgXrQ{[IQnEY{IF5*X)';
const OTHER_SECRET = '7F)3@>MGW.+)..qc)8R#lfL31*^QX<GXufgpVtbA';
const CZMQ = `#   ****  Generated on 2023-09-16 23:15:27 by CZMQ  ****

metadata
    name = "picl0"
    keygen.time = "2023-09-16T23:15:27"
curve
    public-key = "8)TKx/<plQR>gO0.HCH/AsS3n[QeKMOy@}$)=GVu"
    secret-key = "225YW{2q$:dqH]7cCbZW4a-}5Al/)0vkb>cE)o}Z"
`;
const KEYS = `curve\n public-key = "${PUBLIC}"\n secret-key = "${SECRET}"\n`;

const check = (text: string) => checkCertificate(text, 'spec.flux.curveCert');
const METADATA = { name: 'hello', hostname: 'controller-0', madeAt: new Date('2026-05-04T03:02:01.999Z') };

describe('a generated certificate', () => {
  test('has the format of flux keygen', () => {
    const lines = makeCertificate(METADATA).split('\n');
    expect(lines.slice(0, 8)).toEqual([
      '#  ZeroMQ CURVE **Secret** Certificate',
      '#  DO NOT DISTRIBUTE',
      '',
      'metadata',
      '    name = "hello"',
      '    keygen.hostname = "controller-0"',
      '    keygen.time = "2026-05-04T03:02:01"',
      'curve',
    ]);
    expect(lines[8]).toMatch(/^ {4}public-key = "\S{40}"$/);
    expect(lines[9]).toMatch(/^ {4}secret-key = "\S{40}"$/);
    expect(lines.slice(10)).toEqual(['']);
  });

  test('is accepted by brokers for any host name', () => {
    expect(() => check(makeCertificate(METADATA))).not.toThrow();
    expect(() => check(makeCertificate({ ...METADATA, hostname: 'a_b,"c"\nd' }))).not.toThrow();
  });

  test('is different each time', () => {
    expect(makeCertificate(METADATA)).not.toBe(makeCertificate(METADATA));
  });
});

describe("a user's certificate", () => {
  test.each([
    ['written by CZMQ', CZMQ],
    ['without metadata', KEYS],
    ['with the other key pair', `curve\n\tpublic-key="${OTHER_PUBLIC}"\n\tsecret-key="${OTHER_SECRET}"`],
    [
      'with sections in the other order, and metadata twice',
      `${KEYS}metadata\n a = ""\nmetadata\n b = "1"\n`,
    ],
    ['with comments and blank lines anywhere', `# x\n\n  # _y_\n${KEYS}\n   \n`],
    ['with carriage returns', KEYS.replaceAll('\n', '\r\n')],
  ])('%s is accepted', (_title, text) => {
    expect(() => check(text)).not.toThrow();
  });

  test.each([
    ['no content', '', 'has no public-key'],
    ['no secret key', KEYS.split('\n', 2).join('\n'), 'has no secret-key'],
    [
      'keys that do not belong together',
      KEYS.replace(PUBLIC, OTHER_PUBLIC),
      'its public-key and its secret-key do not belong together',
    ],
    ['an unknown section', `global\n${KEYS}`, 'line 1 must be a section'],
    ['an entry that is not indented', KEYS.replace(' public', 'public'), 'line 2 must be a section'],
    ['an entry before any section', ` a = "b"\n${KEYS}`, 'line 1 has an entry before the first section'],
    ['no equals sign', `metadata\n name "a"\n${KEYS}`, 'line 2 must have the form KEY = "VALUE"'],
    [
      'a key with an underscore',
      `metadata\n my_name = "a"\n${KEYS}`,
      'line 2 must have the form KEY = "VALUE"',
    ],
    ['no closing quote', `metadata\n name = "a\n${KEYS}`, 'line 2 must have its value in double quotes'],
    ['one quote only', `metadata\n name = "\n${KEYS}`, 'line 2 must have its value in double quotes'],
    ['a value with an underscore', `metadata\n name = "a_b"\n${KEYS}`, 'line 2 has a character in its value'],
    ['a value with a comma', `metadata\n name = "a,b"\n${KEYS}`, 'line 2 has a character in its value'],
    ['a repeated key', `metadata\n a = "1"\n a = "1"\n${KEYS}`, 'line 3 repeats a metadata key'],
    ['another entry in section curve', `${KEYS} name = "a"\n`, 'line 4 must be public-key or secret-key'],
    ['a key that is too short', KEYS.replace(SECRET, SECRET.slice(1)), 'line 3 must have a key of 40'],
    ['a key outside Z85', KEYS.replace(SECRET, `${SECRET.slice(1)} `), 'line 3 must have a key of 40'],
    ['a line too long for the broker', `#${'x'.repeat(254)}\n${KEYS}`, 'line 1 is longer than 254 bytes'],
  ])('with %s is rejected', (_title, text, problem) => {
    expect(() => check(text)).toThrow(problem);
    expect(() => check(text)).toThrow('FLUXQ_CURVE_INVALID: spec.flux.curveCert: ');
  });

  test('is never quoted in an error', () => {
    for (const line of KEYS.split('\n').filter((text) => text !== ''))
      for (const broken of [line.slice(1), `${line}_`, line.replace('key', 'kex'), line.replace('"', '')]) {
        const text = KEYS.replace(line, broken);
        const message = (() => {
          try {
            check(text);
          } catch (error) {
            return (error as Error).message;
          }
          return undefined;
        })();
        for (const key of [PUBLIC, SECRET]) expect(message ?? '').not.toContain(key.slice(0, 8));
      }
  });
});
