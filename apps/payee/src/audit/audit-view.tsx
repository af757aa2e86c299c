/**
 * The auditor's page: a disclosure file, the nodes to ask, and what they prove.
 *
 * @module
 */
import { errorCodeOf } from '@pool/core';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Field, Foreign, Notice, View } from '../parts/elements.tsx';
import { AuditResult } from './audit-result.tsx';
import {
  type AuditField,
  type AuditFields,
  type AuditInput,
  maxFileBytes,
  readFields,
} from './read-input.ts';
import { auditTexts } from './texts.ts';
import type { AuditOutcome } from './verify-file.ts';

type State =
  | { readonly kind: 'form'; readonly failure?: string | undefined }
  | { readonly kind: 'working' }
  | { readonly kind: 'done'; readonly outcome: AuditOutcome };

const empty: AuditFields = { rpcUrl: '', secondRpcUrl: '', pool: '', challenge: '', platform: '' };
const fieldNames = Object.keys(empty) as readonly AuditField[];

export function AuditView() {
  const [file, setFile] = useState<File>();
  const [fields, setFields] = useState(empty);
  const [isChecked, setIsChecked] = useState(false);
  const [state, setState] = useState<State>({ kind: 'form' });
  useDroppedFile(setFile);
  const input = readFields(fields);
  const problems = 'problems' in input ? input.problems : undefined;

  function onVerify(): void {
    setIsChecked(true);
    if (file === undefined || 'problems' in input) return;
    setState({ kind: 'working' });
    verify(file, input).then(
      (outcome) => setState({ kind: 'done', outcome }),
      (error: unknown) => setState({ kind: 'form', failure: describeError(error) }),
    );
  }

  return (
    <main id="content">
      {state.kind === 'done' ? (
        <AuditResult outcome={state.outcome} onAgain={() => setState({ kind: 'form' })} />
      ) : (
        <View title={auditTexts.title}>
          <p>{auditTexts.intro}</p>
          <FileField file={file} onFile={setFile} isChecked={isChecked} />
          {fieldNames.map((name) => (
            <Field
              key={name}
              {...auditTexts.fields[name]}
              value={fields[name]}
              onValue={(value) => setFields({ ...fields, [name]: value })}
              problem={
                isChecked && problems?.has(name) === true
                  ? auditTexts.fieldProblems[name]
                  : undefined
              }
            />
          ))}
          {state.kind === 'form' && state.failure !== undefined && (
            <Notice kind="failure">{state.failure}</Notice>
          )}
          <Button isMain isDisabled={state.kind === 'working'} onClick={onVerify}>
            {auditTexts.verify}
          </Button>
          <p role="status">{state.kind === 'working' ? auditTexts.working : ''}</p>
        </View>
      )}
    </main>
  );
}

function FileField({
  file,
  onFile,
  isChecked,
}: {
  readonly file: File | undefined;
  readonly onFile: (file: File | undefined) => void;
  readonly isChecked: boolean;
}) {
  return (
    <div class="field">
      <label for="file">{auditTexts.file}</label>
      <input
        id="file"
        type="file"
        accept=".json,application/json"
        aria-describedby="file-hint"
        onChange={(event) => onFile(event.currentTarget.files?.[0])}
      />
      <p class="hint" id="file-hint">
        {auditTexts.fileHint}
      </p>
      {file !== undefined && (
        <p>
          {auditTexts.chosen} <Foreign text={file.name} />
        </p>
      )}
      {isChecked && file === undefined && (
        <p class="problem" role="alert">
          {auditTexts.missing}
        </p>
      )}
    </div>
  );
}

/** A browser opens a file that is dropped beside a target in place of the page, so all of the page is one. */
function useDroppedFile(onFile: (file: File) => void): void {
  const handler = useRef(onFile);
  handler.current = onFile;
  useEffect(() => {
    const allow = (event: DragEvent): void => event.preventDefault();
    const take = (event: DragEvent): void => {
      event.preventDefault();
      const dropped = event.dataTransfer?.files[0];
      if (dropped !== undefined) handler.current(dropped);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', take);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', take);
    };
  }, []);
}

async function verify(file: File, input: AuditInput): Promise<AuditOutcome> {
  if (file.size > maxFileBytes) throw new FileError(auditTexts.tooLarge);
  const text = await file.text().catch(() => {
    throw new FileError(auditTexts.unreadable);
  });
  const { verifyFile } = await import('./verify-file.ts');
  return await verifyFile({ name: file.name, text }, input);
}

/** A sentence for the person who chose the file. */
class FileError extends Error {}

function describeError(error: unknown): string {
  if (error instanceof FileError) return error.message;
  const code = errorCodeOf(error) ?? 'unknown';
  return auditTexts.errors[code] ?? auditTexts.unknownError(code);
}
