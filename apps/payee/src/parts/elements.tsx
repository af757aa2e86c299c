/**
 * Elements that several views use: a view with its heading, fields, notices, facts.
 *
 * @module
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { texts } from '../texts.ts';

/** A view. Its heading takes the focus when it appears, so that keyboards and screen readers begin there. */
export function View({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ComponentChildren;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · ${texts.title}`;
    heading.current?.focus();
  }, [title]);
  return (
    <>
      <h1 ref={heading} tabIndex={-1}>
        {title}
      </h1>
      {children}
    </>
  );
}

type FieldProps = {
  readonly label: string;
  readonly value: string;
  readonly onValue: (value: string) => void;
  readonly hint?: string | undefined;
  /** Shown in place of nothing: the field is wrong. */
  readonly problem?: string | undefined;
  readonly rows?: number;
  readonly inputMode?: 'decimal' | 'text';
  /** Not shown while it is typed. */
  readonly isSecret?: boolean;
};

/** A labelled field. Nothing that is typed is remembered, corrected or sent to a spelling service. */
export function Field({
  label,
  value,
  onValue,
  hint,
  problem,
  rows,
  inputMode,
  isSecret,
}: FieldProps) {
  const id = useId();
  const described = [hint && `${id}-hint`, problem && `${id}-problem`].filter(Boolean).join(' ');
  const shared = {
    id,
    value,
    autocomplete: 'off',
    // As an attribute, which every browser knows.
    autoCorrect: 'off',
    autocapitalize: 'none',
    spellcheck: false,
    'aria-describedby': described === '' ? undefined : described,
    'aria-invalid': problem !== undefined,
    onInput: (event: { readonly currentTarget: { readonly value: string } }) =>
      onValue(event.currentTarget.value),
  } as const;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {isSecret ? (
        <input type="password" {...shared} />
      ) : rows === undefined ? (
        <input type="text" inputMode={inputMode ?? 'text'} {...shared} />
      ) : (
        <textarea rows={rows} {...shared} />
      )}
      {hint && (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {problem && (
        <p class="problem" id={`${id}-problem`} role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

/** What people must see before they go on. A failure is read out at once. */
export function Notice({
  kind,
  title,
  children,
}: {
  readonly kind: 'note' | 'warning' | 'failure';
  readonly title?: string;
  readonly children: ComponentChildren;
}) {
  return (
    <div class={`notice ${kind}`} role={kind === 'failure' ? 'alert' : undefined}>
      {title && <h2>{title}</h2>}
      {children}
    </div>
  );
}

/** Pairs of a name and a value. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [name: string, value: ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A text of a stranger. Its direction does not reach what stands beside it. */
export function Foreign({ text }: { readonly text: string }) {
  return <bdi>{text.replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu, '\ufffd')}</bdi>;
}

/** An address, a hash or a key, which may break anywhere. */
export function Code({ text }: { readonly text: string }) {
  return <code>{text}</code>;
}

export function Button({
  onClick,
  children,
  isMain = false,
  isDisabled = false,
}: {
  readonly onClick: () => void;
  readonly children: ComponentChildren;
  readonly isMain?: boolean;
  readonly isDisabled?: boolean;
}) {
  return (
    <button type="button" class={isMain ? 'main' : ''} disabled={isDisabled} onClick={onClick}>
      {children}
    </button>
  );
}

/** Takes one file, of JSON unless `accept` says otherwise. */
export function FileField({
  label,
  accept = '.json,application/json',
  isDisabled,
  onFile,
}: {
  readonly label: string;
  /** As of an `input`; empty for any file. */
  readonly accept?: string;
  readonly isDisabled: boolean;
  readonly onFile: (file: File) => void;
}) {
  return (
    <label class="field">
      {label}
      <input
        type="file"
        accept={accept}
        disabled={isDisabled}
        onChange={(event) => {
          const [file] = event.currentTarget.files ?? [];
          if (file !== undefined) onFile(file);
        }}
      />
    </label>
  );
}
