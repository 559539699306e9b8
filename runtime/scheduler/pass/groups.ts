/** The nodes of a gang, and the groups that labels divide them into. */

export interface GangNode {
  readonly name: string;
  readonly properties: readonly string[];
  /** Pods of the gang for which there is room; 0 for a node that they may not use. */
  readonly room: number;
}

/** The value of a label on each node. */
export class Groups {
  private readonly byKey = new Map<string, Map<string, string>>();

  constructor(private readonly nodes: readonly Pick<GangNode, 'name' | 'properties'>[]) {}

  /** @returns undefined if the node does not have the label */
  of(node: string, key: string): string | undefined {
    return (this.byKey.get(key) ?? this.read(key)).get(node);
  }

  private read(key: string): Map<string, string> {
    const values = new Map<string, string>();
    const prefix = `${key}=`;
    for (const { name, properties } of this.nodes) {
      const property = properties.find((one) => one.startsWith(prefix));
      if (property !== undefined) values.set(name, property.slice(prefix.length));
    }
    this.byKey.set(key, values);
    return values;
  }
}
