// Runs a command to its end.
import { spawn } from 'node:child_process';

/** @returns standard output. Throws with everything that it printed if it fails */
export function runCommand(
  command: readonly string[],
  options: {
    readonly env?: NodeJS.ProcessEnv;
    readonly input?: string;
    readonly cwd?: string;
  } = {},
): Promise<string> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { PATH: process.env['PATH'], ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that reads nothing may have ended before.
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  let stdout = '';
  let messages = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    messages += text;
  });
  return new Promise((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      if (code === 0) done(stdout);
      else failed(new Error(`${command.join(' ')} ended with ${code}:\n${messages}${stdout}`));
    });
  });
}
