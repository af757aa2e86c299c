/**
 * The commands about this machine and its agent. Each loads its own code when it runs, as in cli-payer.ts.
 *
 * @module
 */
import { type Commands, json } from './cli-options.ts';

export const machineCommands: Commands = {
  status: {
    examples: ['status', 'status --json'],
    about:
      'Print the running agent and its jobs in one screen: version, what is ready, jobs by state and stage, limits, chains. Moves no money.',
    options: json,
    load: async () => (await import('./commands/machine/status-command.ts')).runStatus,
  },
  doctor: {
    examples: ['doctor', 'doctor --json --env-file /etc/pool/agent.env'],
    about:
      'Check everything that the agent needs, and say what to do: configuration, files, disk, clock, stores, chains, signer, gate, platform, prover, the running agent. Needs no running agent, signs nothing, prints no secret.',
    options: json,
    load: async () => (await import('./commands/machine/doctor-command.ts')).runDoctor,
  },
};
