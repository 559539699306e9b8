/** Which source file imports which, and circles in such a graph. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

const ROOT = join(__dirname, '..');

/** One import or re-export statement. */
export interface Import {
  /** Path from the root of the repository. */
  readonly file: string;
  /** The name of a package, or the path of a source file from the root. */
  readonly target: string;
  /** Whether the statement leaves nothing in the compiled program. */
  readonly typeOnly: boolean;
}

/** Every import statement of the TypeScript files below a folder. */
export function importsOf(folder: string): Import[] {
  const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
  return files.flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    return [...text.matchAll(/^(?:import|export)\s+(type\s)?[^;]*?from\s+'([^']+)';/gm)].map(
      ([, type, name]) => ({
        file,
        target: name!.startsWith('.') ? sourceFile(join(dirname(file), name!)) : name!,
        typeOnly: type !== undefined,
      }),
    );
  });
}

function sourceFile(path: string): string {
  const found = [`${path}.ts`, join(path, 'index.ts'), path].find((candidate) =>
    existsSync(join(ROOT, candidate)),
  );
  return relative(ROOT, join(ROOT, found ?? path));
}

/** A directed graph: from each node to the nodes that it points to. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** The graph of these arrows; arrows from a node to itself are left out. */
export function graphOf(arrows: readonly (readonly [from: string, to: string])[]): Graph {
  const graph = new Map<string, Set<string>>();
  for (const [from, to] of arrows) {
    const targets = graph.get(from) ?? new Set();
    if (from !== to) targets.add(to);
    graph.set(from, targets);
  }
  return graph;
}

/** Every circle that a depth-first walk closes, as the path that leads back to its first node. */
export function circlesIn(graph: Graph): string[] {
  const circles: string[] = [];
  const finished = new Set<string>();
  const walk = (node: string, path: readonly string[]): void => {
    const start = path.indexOf(node);
    if (start >= 0) {
      circles.push([...path.slice(start), node].join(' -> '));
      return;
    }
    if (finished.has(node)) return;
    for (const next of graph.get(node) ?? []) walk(next, [...path, node]);
    finished.add(node);
  };
  for (const node of graph.keys()) walk(node, []);
  return circles;
}
