import { Chart } from 'cdk8s';
import type { EnvValue } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { MINICLUSTER_GROUP, MINICLUSTER_VERSION } from '../api/labels';
import { requireProps } from '../api/prop-rules';
import { LazyApiObject } from './api-object';
import { Certificate } from './certificate';
import type { MiniClusterContainerProps } from './container-props';
import type { ClusterContext } from './context';
import { LazyManifest } from './manifest';
import { MiniClusterContainer } from './minicluster-container';
import { checkNames, validProps } from './prop-errors';
import type { MiniClusterProps } from './props';
import { specOf } from './props-to-spec';
import { lazyManifests } from './render';
import type { MiniClusterResource } from './resource';
import type { MiniClusterVolume } from './volume';

/**
 * A Flux instance whose brokers are the pods of one Job. It has the same fields as the resource MiniCluster, and the
 * same rules and manifests.
 *
 * Containers, volumes and environment variables can be added until the chart is synthesized; every addition is
 * validated at once.
 */
export class MiniCluster extends Construct {
  /** Name of the Job and prefix of the pods' host names NAME-0, NAME-1, ... */
  readonly name: string;

  private props: MiniClusterProps;
  private context: ClusterContext;

  /** @throws PropsError that lists every mistake in the props */
  constructor(scope: Construct, id: string, props: MiniClusterProps) {
    super(scope, id);
    requireProps('MiniCluster', props);
    this.name = props.name ?? id;
    this.props = props;
    this.context = this.validContext(props);
    for (const manifest of this.manifests()) new LazyApiObject(this, objectId(manifest, this.name), manifest);
  }

  /** The resource MiniCluster that these props stand for. */
  get resource(): MiniClusterResource {
    return this.context.resource;
  }

  /** The container that runs the brokers and the command. */
  get container(): MiniClusterContainer {
    return new MiniClusterContainer(
      `${this.node.path}: container`,
      () => this.props.container,
      (container) => this.change({ ...this.props, container }),
    );
  }

  /** The containers beside the one that runs the broker, in every pod. */
  get sidecars(): readonly MiniClusterContainer[] {
    return (this.props.sidecars ?? []).map((_, index) => this.member('sidecars', index));
  }

  /** The containers of the additional pod. */
  get services(): readonly MiniClusterContainer[] {
    return (this.props.services ?? []).map((_, index) => this.member('services', index));
  }

  /**
   * Adds a container to every pod, beside the one that runs the broker.
   * @throws PropsError if the container conflicts with the MiniCluster or has mistakes
   */
  addSidecar(props: MiniClusterContainerProps): MiniClusterContainer {
    return this.addMember('sidecars', props);
  }

  /**
   * Adds a container to the one additional pod that the brokers can reach.
   * @throws PropsError if the container conflicts with the MiniCluster or has mistakes
   */
  addService(props: MiniClusterContainerProps): MiniClusterContainer {
    return this.addMember('services', props);
  }

  /**
   * Mounts a volume in the container that runs the brokers; `sidecars` and `addSidecar` return the other containers.
   * @throws PropsError if the container has a volume of this name or at this path
   */
  addVolume(name: string, volume: MiniClusterVolume): void {
    this.container.addVolume(name, volume);
  }

  /**
   * Sets an environment variable of the container that runs the brokers, and so of the command.
   * @throws PropsError if the container has a variable of this name
   */
  addEnv(name: string, value: string | EnvValue): void {
    this.container.addEnv(name, value);
  }

  private addMember(group: 'sidecars' | 'services', props: MiniClusterContainerProps): MiniClusterContainer {
    const members = [...(this.props[group] ?? []), props];
    this.change({ ...this.props, [group]: members });
    return this.member(group, members.length - 1);
  }

  private member(group: 'sidecars' | 'services', index: number): MiniClusterContainer {
    return new MiniClusterContainer(
      `${this.node.path}: ${group}[${index}]`,
      () => this.props[group]![index]!,
      (container) => this.change({ ...this.props, [group]: this.props[group]!.with(index, container) }),
    );
  }

  /** Validates the new props before it keeps them, so that a refused change leaves the MiniCluster as it was. */
  private change(props: MiniClusterProps): void {
    this.context = this.validContext(props);
    this.props = props;
    const manifests = this.manifests();
    const added: LazyApiObject[] = [];
    for (const manifest of manifests) {
      const id = objectId(manifest, this.name);
      const object = this.node.tryFindChild(id);
      if (object instanceof LazyApiObject) object.update(manifest);
      else added.push(new LazyApiObject(this, id, manifest));
    }
    // The workload is applied last, also when it is older than the Service of a container that was added.
    const workload = this.node.findChild(objectId(manifests.at(-1)!, this.name));
    workload.node.addDependency(...added);
  }

  private validContext(props: MiniClusterProps): ClusterContext {
    checkNames(props, this.node.path);
    const namespace = props.namespace ?? Chart.of(this).namespace;
    const metadata = { name: this.name, ...(namespace === undefined ? {} : { namespace }) };
    return validProps({ metadata, spec: specOf(props) }, this.node.path, {
      live: props.live === true,
    });
  }

  private manifests(): readonly LazyManifest[] {
    const { labels } = Chart.of(this);
    // Nobody but a Job of the MiniCluster makes the Secret of one that is not live.
    const { live, certificate = Certificate.fromKeygen() } = this.props;
    const { keygen } = certificate;
    const manifests =
      live === true
        ? [resourceManifest(this.resource)]
        : lazyManifests(this.context, keygen === undefined ? {} : { keygen });
    if (Object.keys(labels).length === 0) return manifests;
    return manifests.map((manifest) => manifest.withLabels(labels));
  }
}

/**
 * Leaves out the cluster's name, which is in the path of the object already: with equal ids in all clusters their
 * nodes share one hidden class of V8, and a chart of thousands takes a fraction of the time.
 */
function objectId({ kind, metadata: { name } }: LazyManifest, cluster: string): string {
  return name.startsWith(cluster) ? `${kind}${name.slice(cluster.length)}` : `${kind}:${name}`;
}

function resourceManifest({ metadata, spec }: MiniClusterResource): LazyManifest {
  const apiVersion = `${MINICLUSTER_GROUP}/${MINICLUSTER_VERSION}`;
  return new LazyManifest(apiVersion, 'MiniCluster', metadata, () => ({ spec }));
}
