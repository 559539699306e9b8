/** A network namespace for each pod, connected by a bridge that nothing else on this machine uses. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** The maximum number of pods. */
export const SIZE = 16;

export type Family = 'ipv4' | 'ipv6';

export class Network {
  private readonly name = `fluxq${process.pid}`;

  constructor(private readonly families: readonly Family[] = ['ipv4']) {
    this.ip(['netns', 'add', `${this.name}-lan`]);
    this.ip(['-n', `${this.name}-lan`, 'link', 'add', 'lan', 'type', 'bridge']);
    this.ip(['-n', `${this.name}-lan`, 'link', 'set', 'lan', 'up']);
    for (let index = 0; index < SIZE; index++) this.join(index);
  }

  /** The first address of a pod. */
  address(index: number): string {
    return this.addresses(index)[0]!;
  }

  /** The addresses of a pod, one of each family. */
  addresses(index: number): string[] {
    return this.families.map((family) => `${family === 'ipv4' ? '10.77.0.' : 'fd77::'}${index + 10}`);
  }

  /** The command prefix that runs a command in the network of a pod. */
  inside(index: number): string[] {
    return ['ip', 'netns', 'exec', `${this.name}-${index}`];
  }

  remove(): void {
    for (let index = 0; index < SIZE; index++) this.ip(['netns', 'delete', `${this.name}-${index}`]);
    this.ip(['netns', 'delete', `${this.name}-lan`]);
  }

  private join(index: number): void {
    const pod = `${this.name}-${index}`;
    this.ip(['netns', 'add', pod]);
    this.ip([
      '-n',
      `${this.name}-lan`,
      'link',
      'add',
      `pod${index}`,
      'type',
      'veth',
      'peer',
      'eth0',
      'netns',
      pod,
    ]);
    this.ip(['-n', `${this.name}-lan`, 'link', 'set', `pod${index}`, 'master', 'lan', 'up']);
    if (!this.families.includes('ipv6') && existsSync('/proc/sys/net/ipv6')) this.withoutIpv6(pod);
    for (const address of this.addresses(index)) this.assign(pod, address);
    this.ip(['-n', pod, 'link', 'set', 'eth0', 'up']);
    this.ip(['-n', pod, 'link', 'set', 'lo', 'up']);
  }

  private assign(pod: string, address: string): void {
    // Without nodad an IPv6 address cannot be used for a second or two.
    const of = address.includes(':') ? [`${address}/64`, 'nodad'] : [`${address}/24`];
    this.ip(['-n', pod, 'addr', 'add', of[0]!, 'dev', 'eth0', ...of.slice(1)]);
  }

  private withoutIpv6(pod: string): void {
    this.ip(['netns', 'exec', pod, 'sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1']);
  }

  private ip(args: readonly string[]): void {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
