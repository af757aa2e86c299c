/**
 * Runs a command of the agent's own binary, as an operator would.
 *
 * @module
 */
import { spawn } from 'node:child_process';
import { type Agent, agentScript } from './agent-process.ts';

/** Its progress and messages go to this terminal; its standard output is the answer. */
export function runAgentCommand(
  agent: Agent,
  args: readonly string[],
): Promise<{ readonly stdout: string; readonly code: number }> {
  return new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      ['--conditions=@pool/source', '--disable-warning=ExperimentalWarning', agentScript, ...args],
      {
        env: { ...process.env, ...agent.environment },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      resolve({ stdout, code: code ?? 1 });
    });
  });
}
