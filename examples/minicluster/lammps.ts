/**
 * A large MPI job: LAMMPS on 512 cores. Requests equal limits and are whole CPUs, so a kubelet with the static CPU
 * manager gives each pod exclusive cores and tasks can be pinned. The brokers form a tree, and /dev/shm is in memory.
 */
import { App, Chart, Duration, Size } from 'cdk8s';
import { Certificate, MiniCluster, MiniClusterVolume } from '../../constructs/minicluster';

const app = new App();

new MiniCluster(new Chart(app, 'lammps'), 'lammps', {
  size: 32,
  tasks: 512,
  container: {
    image: 'ghcr.io/converged-computing/metric-lammps:latest',
    command: 'lmp -v x 16 -v y 16 -v z 16 -in in.reaxc.hns -nocite',
    workingDir: '/opt/lammps/examples/reaxff/HNS',
    cpu: 16,
    cpuLimit: 16,
    memory: Size.gibibytes(32),
    memoryLimit: Size.gibibytes(32),
    volumes: { shm: MiniClusterVolume.emptyDir({ inMemory: true, sizeLimit: Size.gibibytes(8) }) },
  },
  walltime: Duration.hours(2),
  flux: {
    // The view must be built for the operating system of the image.
    view: { image: 'ghcr.io/converged-computing/flux-view-ubuntu:tag-jammy' },
    submitCommand: 'flux run',
    optionFlags: '-ompi=openmpi@5 --cores-per-task=1',
    cores: 16,
    cpuAffinity: true,
    topology: 'kary:8',
  },
  scheduling: { exclusive: true },
  logging: { timed: true },
  certificate: Certificate.fromKeygen(),
});

app.synth();
