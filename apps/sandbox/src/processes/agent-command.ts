/**
 * Runs a command of the agent's own binary, as an operator would.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { type Agent, agentScript } from './agent-process.ts';

/**
 * Its standard output is the answer. Its progress and messages go to this process's standard error; without a terminal there, with
 * `isQuiet`, only if it fails.
 */
export function runAgentCommand(
  agent: Pick<Agent, 'environment'>,
  args: readonly string[],
  { isQuiet = false }: { readonly isQuiet?: boolean } = {},
): Promise<{ readonly stdout: string; readonly code: number }> {
  const keepsMessages = isQuiet && process.stderr.isTTY !== true;
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', agentScript, ...args],
      {
        env: { ...process.env, ...agent.environment },
        stdio: ['ignore', 'pipe', keepsMessages ? 'pipe' : 'inherit'],
      },
    );
    let stdout = '';
    let messages = '';
    child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      messages += text;
    });
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) {
        process.stderr.write(messages);
      }
      resolve({ stdout, code: code ?? 1 });
    });
  });
}
