import type { Message } from '../../runtime/kubernetes/protobuf';

type Used = Map<Message, Set<string>>;
type Properties = Readonly<Record<string, unknown>>;

/** The names of fields of this message, and of those in it, that none of the objects has. */
export function unusedFields(message: Message, objects: readonly object[]): string[] {
  const used: Used = new Map();
  for (const object of objects) markUsed(message, object as Properties, used);
  return [...used].flatMap(([fields, names]) =>
    fields.flatMap((field) => (field === undefined || names.has(field.name) ? [] : [field.name])),
  );
}

function markUsed(message: Message, object: Properties, used: Used): void {
  const names = used.get(message) ?? new Set();
  used.set(message, names);
  for (const field of message) {
    // The fields of the embedded message belong to the object around it.
    const value = field?.name === 'volumeSource' ? object : object[field?.name ?? ''];
    if (field === undefined || value === undefined) continue;
    names.add(field.name);
    if (field.message.length === 0) continue;
    for (const each of [value].flat()) markUsed(field.message, each as Properties, used);
  }
}
