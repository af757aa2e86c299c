/**
 * The catalogue of error codes as a page.
 *
 * @module
 */

import type { ErrorEntry } from '@pool/core';
import { errorGroups } from '@pool/core';

/** docs/errors.md */
export function renderErrors(): string {
  const tables = Object.entries(errorGroups).map(([title, group]) => {
    const rows = Object.entries<ErrorEntry>(group).map(renderRow);
    return `## ${title}\n\n| code | HTTP status | retry | exit code | meaning |\n|---|--:|---|--:|---|\n${rows.join('\n')}\n`;
  });
  return `# Error codes

Every error has a stable \`code\` and a message that says what was found, where, and what to do. Recognise errors by the code;
messages may change. Generated from the catalogue in \`packages/core/src/errors\`, which is also what the compiler checks codes
against.

The status is that of an HTTP answer; a route may document another one for a code where the same mistake is a refused
credential. "Retry": the same call can succeed later without a change by the caller. The exit code is that of a command of
\`disburse-agent\` that ends with the error, 1 where the column is empty. Reverts of the contracts have codes of their own, which
are the names of their errors in kebab-case, for example \`batch-nonce-used\`.

${tables.join('\n')}`;
}

function renderRow([code, { status, retry, exit, meaning }]: [string, ErrorEntry]): string {
  return `| \`${code}\` | ${status ?? ''} | ${retry === true ? 'yes' : ''} | ${exit ?? ''} | ${meaning} |`;
}
