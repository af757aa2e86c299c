/**
 * A `.zkey` file as the ceremony reads it: its sections, its header, and the check that all lengths agree with the header.
 *
 * @module
 */
import {
  decodeZkeyHeader,
  measureZkeyPoints,
  type ZkeyHeaderFields,
  type ZkeyPointSection,
  zkeyPointGroups,
  zkeySection,
} from '@pool/kernels';
import {
  malformedFile,
  openSectionFile,
  type SectionFile,
  translateFormat,
} from './section-file.ts';

/** Bytes of one entry of the coefficients' section: matrix, row, wire, value. */
const coefficientBytes = 44;
const groth16 = 1;

export type KeyFile = { readonly file: SectionFile; readonly header: ZkeyHeaderFields };

async function checkLengths(file: SectionFile, header: ZkeyHeaderFields): Promise<void> {
  for (const section of Object.keys(zkeyPointGroups) as ZkeyPointSection[]) {
    const id = zkeySection[section];
    if (file.sizeOf(id) !== measureZkeyPoints(section, header)) {
      throw malformedFile('zkey', `section ${id} has another length than its header says`);
    }
  }
  const { coefficients, contributions } = zkeySection;
  const count = (await file.read(coefficients, 0, 4)).readUInt32LE(0);
  if (file.sizeOf(coefficients) !== 4 + count * coefficientBytes) {
    throw malformedFile(
      'zkey',
      `section ${coefficients} has another length than its number of entries requires`,
    );
  }
  if (!file.hasSection(contributions)) {
    throw malformedFile('zkey', 'it has no record of contributions');
  }
}

/**
 * Opens a key and checks its form, but not its points. The caller closes `file`.
 * @throws PoolError `invalid_option`, `zkey_malformed`
 */
export async function openKeyFile(path: string): Promise<KeyFile> {
  const file = await openSectionFile(path, 'zkey');
  try {
    const protocol = await file.read(zkeySection.protocol, 0, 4);
    if (protocol.readUInt32LE(0) !== groth16) {
      throw malformedFile('zkey', 'it is not for Groth16');
    }
    const bytes = await file.read(zkeySection.header, 0, file.sizeOf(zkeySection.header));
    const header = await translateFormat('zkey', () => decodeZkeyHeader(bytes));
    if (header.domainSize < 2) {
      throw malformedFile('zkey', 'the counts in its header contradict each other');
    }
    await checkLengths(file, header);
    return { file, header };
  } catch (error) {
    await file.close();
    throw error;
  }
}
