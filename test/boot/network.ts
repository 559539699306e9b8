/** A network namespace for each pod, connected by a bridge that nothing else on this machine uses. */
import { execFileSync } from 'node:child_process';

/** The maximum number of pods. */
export const SIZE = 16;

export class Network {
  private readonly name = `fluxq${process.pid}`;

  constructor() {
    this.ip(['netns', 'add', `${this.name}-lan`]);
    this.ip(['-n', `${this.name}-lan`, 'link', 'add', 'lan', 'type', 'bridge']);
    this.ip(['-n', `${this.name}-lan`, 'link', 'set', 'lan', 'up']);
    for (let index = 0; index < SIZE; index++) this.join(index);
  }

  address(index: number): string {
    return `10.77.0.${index + 10}`;
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
    this.ip(['-n', pod, 'addr', 'add', `${this.address(index)}/24`, 'dev', 'eth0']);
    this.ip(['-n', pod, 'link', 'set', 'eth0', 'up']);
    this.ip(['-n', pod, 'link', 'set', 'lo', 'up']);
  }

  private ip(args: readonly string[]): void {
    execFileSync('ip', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  }
}
