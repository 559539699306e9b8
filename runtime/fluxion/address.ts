/** Addresses of a Fluxion server: `unix:/path` or `host:port` (`[::1]:4242`). */
import { FluxqError } from '../errors';

export type Address =
  | { readonly kind: 'unix'; readonly path: string; readonly target: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number; readonly target: string };

/** @throws FluxqError FLUXQ_FLUXION_ADDRESS */
export function parseAddress(text: string): Address {
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (unix !== undefined) return { kind: 'unix', path: unix, target: `unix:${unix}` };
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text) ?? [];
  const host = bracketed ?? plain;
  if (host === undefined || Number(port) > 65_535) {
    throw new FluxqError(
      'FLUXQ_FLUXION_ADDRESS',
      'the address does not have the form unix:/path or host:port',
      {
        field: 'address',
        value: text,
        remedy: 'use an address like unix:/run/fluxion/fluxion.sock or localhost:4242',
      },
    );
  }
  return { kind: 'tcp', host, port: Number(port), target: text };
}

/** Whether the address is on this machine, so that no plain text leaves it. */
export function isLocal(address: Address): boolean {
  return (
    address.kind === 'unix' ||
    address.host === 'localhost' ||
    address.host === '::1' ||
    /^127\./.test(address.host)
  );
}
