import { fluxProblem, parseVersion } from './flux';
import { linkedLibraries } from './library';

test('reads the version from the output of flux version', () => {
  const output = 'commands:    \t\t0.88.0\nlibflux-core:\t\t0.88.0\nbuild-options:\t\t+hwloc.api==2.8.0\n';
  expect(parseVersion(output)).toBe('0.88.0');
  expect(() => parseVersion('commands: none')).toThrow(/no version of libflux-core/);
});

test('says in one sentence which prefixes cannot be put into an image', () => {
  expect(fluxProblem('/usr')).toBe('FLUX_PREFIX=/usr is not a folder of Flux alone');
  expect(fluxProblem('/nowhere')).toBe('FLUX_PREFIX=/nowhere has no bin/flux');
});

test('takes each library of several programs once, and names the prefix if one is missing', () => {
  const ldd = [
    '/opt/flux/bin/flux:',
    '\tlibjansson.so.4 => /lib/x86_64-linux-gnu/libjansson.so.4 (0x00007f01)',
    '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f02)',
    '/opt/flux/libexec/flux/cmd/flux-broker:',
    '\tlibzmq.so.5 => /lib/x86_64-linux-gnu/libzmq.so.5 (0x00007f03)',
    '\tlibjansson.so.4 => /lib/x86_64-linux-gnu/libjansson.so.4 (0x00007f04)',
  ].join('\n');
  expect(linkedLibraries(ldd, 'FLUX_PREFIX', '/opt/flux')).toEqual([
    '/lib/x86_64-linux-gnu/libjansson.so.4',
    '/lib/x86_64-linux-gnu/libzmq.so.5',
  ]);
  expect(() => linkedLibraries('\tlibzmq.so.5 => not found\n', 'FLUX_PREFIX', '/opt/flux')).toThrow(
    /FLUXQ_TEST_IMAGE.*FLUX_PREFIX.*libzmq\.so\.5/s,
  );
});
