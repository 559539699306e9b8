/** Manifests as multi-document YAML that kubectl reads back exactly, whatever stands in them. */
import { Document, Scalar, visit } from 'yaml';

/** What looks like an octal number of YAML 1.2 to kubectl and like a text to a writer of 1.1. */
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
      // Scripts as they are: folded lines are hard to read and to compare.
      else if (node.value.includes('\n')) node.type = Scalar.BLOCK_LITERAL;
    },
  });
  // The first line of 1.1 is a directive, which is no part of a manifest.
  return document.toString({ lineWidth: 0, directives: false });
}
