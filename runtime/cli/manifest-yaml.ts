/** Manifests as multi-document YAML: written so that kubectl reads every value exactly as it was, and read as users write them. */
import { Document, parseAllDocuments, Scalar, visit } from 'yaml';
import { messageOf } from '../errors';

/** kubectl reads such text as an octal number of YAML 1.2; a writer of YAML 1.1 does not quote it. */
const OCTAL = /^[-+]?0o/i;

export function manifestYaml(objects: readonly object[]): string {
  return objects.map(one).join('---\n');
}

function one(object: object): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value !== 'string') return;
      if (OCTAL.test(node.value)) node.type = Scalar.QUOTE_DOUBLE;
      // Scripts keep their lines: folded lines are hard to read and to compare.
      else if (node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  // YAML 1.1 starts with a directive, which is not part of a manifest.
  return document.toString({ lineWidth: 0, directives: false });
}

/**
 * The values of the documents; one without content is null.
 * @param refused makes the error of a mistake, which it gets as one line
 * @param reviver as of JSON.parse. @default - values stay as they are
 */
export function valuesIn(
  text: string,
  refused: (mistake: string) => Error,
  reviver?: (key: unknown, value: unknown) => unknown,
): unknown[] {
  return [...parseAllDocuments(text)].map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw refused(firstLine(error));
    try {
      // An alias is only followed here: its anchor may be missing, or too many may repeat each other.
      return document.toJS(reviver === undefined ? {} : { reviver }) as unknown;
    } catch (cause) {
      throw refused(firstLine(cause));
    }
  });
}

function firstLine(error: unknown): string {
  return messageOf(error).split('\n')[0]!.replace(/:$/, '');
}
