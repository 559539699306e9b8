import { libraryClosure } from './library';

test('takes what a library is linked with, and leaves the C library to the image', () => {
  const ldd = [
    '\tlinux-vdso.so.1 (0x00007ffd)',
    '\tlibresource.so => /usr/lib/flux/libresource.so (0x00007f01)',
    '\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f02)',
    '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03)',
    '\t/lib64/ld-linux-x86-64.so.2 (0x00007f04)',
  ].join('\n');
  expect(libraryClosure('/usr/lib/flux/libreapi_cli.so', ldd)).toEqual([
    '/usr/lib/flux/libreapi_cli.so',
    '/usr/lib/flux/libresource.so',
    '/lib/x86_64-linux-gnu/libstdc++.so.6',
  ]);
});

test('names what the loader does not find: the image would not start', () => {
  const ldd =
    '\tlibflux-core.so.2 => not found\n\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f03)\n';
  expect(() => libraryClosure('/usr/lib/flux/libreapi_cli.so', ldd)).toThrow(
    /FLUXQ_TEST_IMAGE.*libflux-core\.so\.2.*LD_LIBRARY_PATH/s,
  );
});
