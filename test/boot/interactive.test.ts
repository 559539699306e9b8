/** Interactive clusters with a command, which runs beside the brokers. */
import { type Container, describeWithFlux, lines, logged } from './suite';

describeWithFlux('with a real Flux', (boot) => {
  test.each<[string, Container, string]>([
    ['a command', { command: 'sh -c "hostname; exit 3"' }, '3'],
    ['a launcher', { command: 'flux run -N2 -n2 sh -c "hostname; exit 4"', launcher: true }, '4'],
  ])('an interactive cluster runs %s and accepts jobs until it is shut down', async (_, container, code) => {
    const cluster = boot.cluster(container, { size: 2, tasks: 2, interactive: true });
    const [lead] = await cluster.startAll();
    await logged(
      lead!.process,
      `the command exited with code ${code}; the cluster is interactive and stays up`,
    );
    expect(lines(await boot.inLead('flux', 'run', '-N2', 'hostname'))).toEqual(['mc-0', 'mc-1']);
    await boot.inLead('flux', 'shutdown', '--quiet').catch(() => undefined);
    const end = await lead!.ended;
    expect([end.code, lines(end.stdout)]).toEqual([0, ['mc-0', 'mc-1']]);
  });
});
