/**
 * Files that hold one credential, named by the `_FILE` form of a variable: the bare secret on one line, or the
 * JSON document that a command printed when it made the credential.
 *
 * @module
 */
import type { Capability } from '@pool/api';

/** Where a credential stands in the JSON document its command printed. */
export type CredentialForm = {
  /** The document's field; the first that is there. */
  readonly fields: readonly string[];
  /** What the document must say it is for, if it says so. */
  readonly capability?: Capability;
};

type SecretFile =
  | { readonly kind: 'secret'; readonly value: string }
  | { readonly kind: 'wrong'; readonly problem: string };

/** Never puts a part of the content into the problem. */
export function parseSecretFile(content: string, form: CredentialForm): SecretFile {
  const bare = content.replace(/^\uFEFF/, '').trim();
  if (bare === '') {
    return wrong('names an empty file');
  }
  if (bare.startsWith('{')) {
    return parseDocument(bare, form);
  }
  if (bare.startsWith('[')) {
    return wrong(
      'names a JSON list: it must be the document of the command that made the credential',
    );
  }
  if (/^(["'`]).*\1$/s.test(bare)) {
    return wrong('names a file with the secret in quotes: write it bare');
  }
  return /\s/.test(bare)
    ? wrong(
        'names a file with more than one word: it must hold the bare secret alone, or the JSON document of the command that made it',
      )
    : { kind: 'secret', value: bare };
}

function parseDocument(json: string, { fields, capability }: CredentialForm): SecretFile {
  let document: Readonly<Record<string, unknown>>;
  try {
    document = JSON.parse(json) as Readonly<Record<string, unknown>>;
  } catch {
    return wrong('names a file whose JSON is broken');
  }
  const said = document['capability'];
  if (capability !== undefined && said !== undefined && said !== capability) {
    return wrong(`names the document of a key with another capability: it must be ${capability}`);
  }
  const value = fields
    .map((field) => (Object.hasOwn(document, field) ? document[field] : undefined))
    .find((candidate) => typeof candidate === 'string' && candidate.trim() !== '');
  return typeof value === 'string'
    ? { kind: 'secret', value: value.trim() }
    : wrong(`names a JSON document without the field ${fields.join(' or ')}`);
}

function wrong(problem: string): SecretFile {
  return { kind: 'wrong', problem };
}
