/** Manifests as multi-document YAML. kubectl reads every value exactly as it was. */
import { Document, Scalar, visit } from 'yaml';

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
