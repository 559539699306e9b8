/**
 * A broker.toml of your own, for what has no field: here limits of jobs and how
 * long finished ones are remembered. Everything else must be in it, too; the
 * paths are where the pods have these files.
 */
import { App, Chart } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'broker-config');

const brokerConfig = `
[bootstrap]
curve_cert = "/run/flux-curve/curve.cert"
default_port = 8050
default_bind = "tcp://*:%p"
default_connect = "tcp://%h.tuned:%p"
hosts = [ { host = "tuned-[0-3]" } ]

[tbon]
connect_timeout = "5s"
tcp_user_timeout = "20s"

# Made by each pod.
[resource]
path = "/mnt/flux/config/etc/flux/system/R"
noverify = true

[policy.limits]
duration = "4h"
job-size.max.nnodes = 2

[job-manager]
inactive-age-limit = "7d"
`;

new MiniCluster(chart, 'tuned', {
  size: 4,
  interactive: true,
  container: { image: 'docker.io/library/ubuntu:24.04', cpu: 4 },
  brokerConfig,
  // One that `flux keygen` wrote, from a secret store.
  certificate: Certificate.fromSecret(Secret.fromSecretName(chart, 'certificate', 'tuned-curve')),
});

app.synth();
