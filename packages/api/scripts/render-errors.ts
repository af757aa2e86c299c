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
    return `## ${title}\n\n${rows.join('\n')}\n`;
  });
  return `# Error codes

Recognise an error by its stable \`code\`; messages may change. In parentheses:

- the status of an HTTP answer. A route may document another one where the same mistake is a refused credential;
- "retry": the same call can succeed later without a change by the caller;
- "exit": the exit code of a command of \`disburse-agent\`, if it is not 1.

A revert of a contract has the name of its error in kebab-case, for example \`batch-nonce-used\`. Generated from
\`packages/core/src/errors\`.

${tables.join('\n')}`;
}

function renderRow([code, { status, retry, exit, meaning }]: [string, ErrorEntry]): string {
  const facts = [status, retry === true && 'retry', exit !== undefined && `exit ${exit}`].filter(
    (fact) => fact !== undefined && fact !== false,
  );
  return `- \`${code}\`${facts.length === 0 ? '' : ` (${facts.join(', ')})`}: ${meaning}`;
}
