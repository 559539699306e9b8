/**
 * A web service that submits jobs to an interactive cluster, with the bindings of Flux for Python. Every request needs the
 * token in the Secret `web-token`, because whoever can submit jobs runs programs in the pods:
 *   curl -H "Authorization: Bearer $TOKEN" -d '{"command": ["hostname"], "nodes": 2}' http://web-0.web:8080/jobs
 *   curl -H "Authorization: Bearer $TOKEN" http://web-0.web:8080/jobs/f3XcVqHm
 */
import { App, Chart } from 'cdk8s';
import { k8s, Secret } from 'cdk8s-plus-28';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const PORT = 8080;

const SERVER = `exec flux python - <<'EOF'
import hmac, json, subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
import flux, flux.job

TOKEN = open("/etc/web/token", "rb").read().strip()

class Jobs(BaseHTTPRequestHandler):
    timeout = 10

    def answer(self, code, body):
        text = json.dumps(body).encode()
        self.send_response(code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def serve(self, act):
        given = self.headers.get("Authorization", "").encode()
        if not hmac.compare_digest(given, b"Bearer " + TOKEN):
            return self.answer(401, {"error": "the token is missing or wrong"})
        try:
            self.answer(*act())
        except (ValueError, TypeError, KeyError, AttributeError, OSError) as error:
            self.answer(400, {"error": str(error)})

    def do_POST(self):
        self.serve(self.submit if self.path == "/jobs" else self.unknown)

    def do_GET(self):
        self.serve(self.show if self.path.startswith("/jobs/") else self.unknown)

    def unknown(self):
        return 404, {"error": "use POST /jobs or GET /jobs/ID"}

    def submit(self):
        length = int(self.headers.get("Content-Length", 0))
        if length > 65536:
            return 413, {"error": "the request is longer than 64 KiB"}
        wanted = json.loads(self.rfile.read(length))
        nodes = int(wanted.get("nodes", 1))
        tasks = int(wanted.get("tasks", nodes))
        job = flux.job.JobspecV1.from_command(wanted["command"], num_nodes=nodes, num_tasks=tasks)
        return 201, {"id": flux.job.JobID(flux.job.submit(flux.Flux(), job)).f58plain}

    def show(self):
        id = flux.job.JobID(self.path[len("/jobs/"):])
        job = flux.job.get_job(flux.Flux(), id)
        if job is None:
            return 404, {"error": "there is no such job"}
        body = {name: job.get(name) for name in ("state", "result", "returncode")}
        if job["state"] == "INACTIVE":
            attached = subprocess.run(["flux", "job", "attach", id.f58plain], capture_output=True, text=True)
            body["output"] = attached.stdout[:65536]
        return 200, body

HTTPServer(("", ${PORT}), Jobs).serve_forever()
EOF
`;

const app = new App();
const chart = new Chart(app, 'web');

const cluster = new MiniCluster(chart, 'web', {
  size: 2,
  // The server runs beside the lead broker; the cluster stays up whatever happens to it.
  interactive: true,
  container: {
    image: 'registry.example.com/hpc/flux-app:1',
    script: SERVER,
    launcher: true,
    cpu: 2,
    ports: [PORT],
  },
  flux: { inImage: true },
  // Jobs can connect to each other by the names that `flux hostlist` prints.
  network: { fqdn: true },
  certificate: Certificate.fromKeygen(),
});
const token = Secret.fromSecretName(chart, 'token', 'web-token');
cluster.addVolume('token', MiniClusterVolume.fromSecret(token, '/etc/web'));

// Only the brokers themselves and pods with the label web-client reach the cluster.
const brokers = { podSelector: { matchLabels: { 'hpa-selector': 'web' } } };
const clients = { podSelector: { matchLabels: { 'web-client': 'true' } } };
new k8s.KubeNetworkPolicy(chart, 'callers', {
  metadata: { name: 'web' },
  spec: {
    ...brokers,
    ingress: [
      { from: [brokers] },
      { from: [clients], ports: [{ port: k8s.IntOrString.fromNumber(PORT), protocol: 'TCP' }] },
    ],
  },
});

app.synth();
