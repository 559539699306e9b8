import { measured } from '../../runtime/observability/measured';

class Server {
  #calls = 0;
  readonly name = 'server';

  get calls(): number {
    return this.#calls;
  }

  async double(value: number): Promise<number> {
    this.#calls += 1;
    return 2 * value;
  }

  async fail(): Promise<never> {
    throw new Error('no');
  }

  half(value: number): number {
    return value / 2;
  }
}

test('reports what a call resolves to, or that it failed, and changes nothing', async () => {
  const calls: [string, unknown][] = [];
  const server = measured(new Server(), (method, seconds, result) => {
    expect(seconds).toBeGreaterThanOrEqual(0);
    calls.push([method, result?.value]);
  });
  await expect(server.double(4)).resolves.toBe(8);
  await expect(server.fail()).rejects.toThrow('no');
  expect([server.half(4), server.name, server.calls]).toEqual([2, 'server', 1]);
  expect(calls).toEqual([
    ['double', 8],
    ['fail', undefined],
  ]);
});
