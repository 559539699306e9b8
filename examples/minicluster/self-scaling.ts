/**
 * An application that scales its own MiniCluster: its ServiceAccount may scale this MiniCluster and nothing else. The
 * image must have kubectl.
 */
import { App, Chart } from 'cdk8s';
import { k8s, ServiceAccount } from 'cdk8s-plus-28';
import { MiniCluster } from '../../constructs/minicluster';

const app = new App();
const chart = new Chart(app, 'self-scaling', { namespace: 'hpc' });
const name = 'self-scaling';

const account = new ServiceAccount(chart, 'account', { metadata: { name } });
const role = new k8s.KubeRole(chart, 'role', {
  metadata: { name },
  rules: [
    {
      apiGroups: ['flux-framework.org'],
      resources: ['miniclusters', 'miniclusters/scale'],
      resourceNames: [name],
      verbs: ['get', 'patch', 'update'],
    },
  ],
});
new k8s.KubeRoleBinding(chart, 'binding', {
  metadata: { name },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: role.name },
  subjects: [{ kind: 'ServiceAccount', name: account.name }],
});

new MiniCluster(chart, name, {
  live: true,
  size: 2,
  maxSize: 8,
  container: {
    image: 'registry.example.com/ensembles/driver:1.2',
    // The command runs beside the lead broker and submits its jobs itself.
    launcher: true,
    command: `
      set -e
      flux run -N2 coarse-model
      kubectl scale minicluster/${name} --replicas=8
      flux run -N8 fine-model
    `,
    cpu: 8,
  },
  pod: { serviceAccount: account, automountServiceAccountToken: true },
});

app.synth();
