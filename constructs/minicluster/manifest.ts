import type { ManifestObject } from './resource';

type Content = Readonly<Record<string, unknown>>;

/** One object of a MiniCluster: its identity is known from the start, its content is produced when it is written. */
export class LazyManifest {
  constructor(
    readonly apiVersion: string,
    readonly kind: string,
    readonly metadata: ManifestObject['metadata'],
    private readonly content: () => Content,
  ) {}

  /** Produces the whole object. */
  produce(): ManifestObject {
    return { apiVersion: this.apiVersion, kind: this.kind, metadata: this.metadata, ...this.content() };
  }

  /** Returns the same object with these labels in addition; its own labels win. */
  withLabels(labels: Readonly<Record<string, string>>): LazyManifest {
    const metadata = { ...this.metadata, labels: { ...labels, ...this.metadata.labels } };
    return new LazyManifest(this.apiVersion, this.kind, metadata, this.content);
  }
}
