/**
 * A broker.toml for settings that have no field: here the limits of jobs and how long Flux remembers finished ones. It
 * replaces the generated file, so it must have everything else too; its paths are those of the files in the pods.
 */
import { App, Chart } from 'cdk8s';
import { Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'broker-config');

const brokerConfig = `
[bootstrap]
curve_cert = "/run/flux-curve/curve.cert"
enable_ipv6 = true
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
  flux: { brokerConfig },
  // A certificate that `flux keygen` wrote, from a secret store.
  certificate: Certificate.fromSecret(Secret.fromSecretName(chart, 'certificate', 'tuned-curve')),
});

app.synth();
