// Starts child processes for the scripts of this folder.
import { spawn } from 'node:child_process';

export interface RunOptions {
  readonly cwd?: string;
  /** Added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** `inherit` shows the child's output immediately; `collect` stores it. */
  readonly output: 'inherit' | 'collect';
  /** Sees standard output as it arrives, under `collect`. */
  readonly onText?: (text: string) => void;
}

export interface RunResult {
  /** Exit status; 1 for a child that a signal ended or that could not be started. */
  readonly status: number;
  readonly stdout: string;
  /** Standard output and error together, in order of arrival; empty under `inherit`. */
  readonly combined: string;
}

/** Runs a program to its end. It never rejects: a program that cannot be started gives a status. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env, output, onText }: RunOptions,
): Promise<RunResult> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env: { ...process.env, ...env },
      stdio: output === 'inherit' ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let combined = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      combined += text;
      onText?.(text);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      combined += text;
    });
    child.on('error', (error) => {
      resolve({ status: 1, stdout, combined: `${combined}${error.message}\n` });
    });
    child.on('close', (code, signal) => {
      const note = signal === null ? '' : `ended by ${signal}\n`;
      resolve({ status: code ?? 1, stdout, combined: combined + note });
    });
  });
}
