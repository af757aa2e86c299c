/**
 * The settings of an agent in a backup: every variable that is set and no credential. Credentials are named without their values.
 *
 * @module
 */
import { type ConfigLayers, findText, readVariable } from '@pool/configuration';
import { allVariables } from '../../config/variables.ts';

/** Places of this machine. The restored directory has its own. */
const placesHere: readonly string[] = [
  'DISBURSE_HOME',
  'AGENT_ENV',
  'DISBURSE_JOB_STORE',
  'DISBURSE_SPEND_JOURNAL',
  'DISBURSE_CHAINS_FILE',
  'NODE_ENV',
  'DISBURSE_FAULT',
];

/** An agent.env without credentials. A person completes it. */
export function renderSettings(layers: ConfigLayers): string {
  const lines = allVariables
    .filter(({ name }) => !placesHere.includes(name))
    .flatMap((variable) => {
      const { name, credential } = variable;
      const { origin } = readVariable(variable, layers);
      if (origin.from === 'default' || origin.from === 'unset') {
        return [];
      }
      if (credential !== undefined) {
        return [`#${name}_FILE=`];
      }
      const { text = '' } = findText(layers, name) ?? {};
      return isPlain(text) ? [`${name}=${text}`] : [`# ${name} is not copied: set it again`];
    });
  return `${[
    '# Settings of the agent whose backup was restored. It contains no credential and no key.',
    '# Complete it, name the file of each credential that stands as a comment, and rename the file to agent.env.',
    ...lines,
  ].join('\n')}\n`;
}

function isPlain(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && !/["'`#\\]/.test(text);
}
