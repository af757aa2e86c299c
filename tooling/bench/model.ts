// `pnpm bench model`: what a hundred agents and 100,000,000 notes would need on three kinds of chain, computed from measured figures. Each
// figure names where it was measured. Nothing runs.
import { createStamp, type Table } from './results.ts';
import { saveSection } from './results-store.ts';

const agents = 100;
const notes = 100_000_000;

const measured = {
  payees: 256,
  /** Gas of a batch of 256 (docs/costs.md). */
  gas: 642_180,
  /** Seconds of a proof of 256 on two cores: four times one of 64, which took 5.2 s. */
  proofSeconds: 22,
  /** Bytes of a note in the platform's database, and in the pages of all batches (`pnpm bench scale`). */
  storedBytes: 950,
  servedBytes: 71,
  /** Notes that a holder's agent checks each second, with its files empty (`pnpm bench rates`). */
  checkedPerSecond: 17_000,
  /** Bytes of all batches that the platform serves one holder each second by default. */
  servedPerSecond: 4 * 2 ** 20,
};

const chains = [
  { name: '12 s blocks, final after 13 min, 36 million gas', block: 12, final: 780, gas: 36e6 },
  { name: '2 s blocks, final after 1 min, 60 million gas', block: 2, final: 60, gas: 60e6 },
  { name: '1 s blocks, final after 3 s, 30 million gas', block: 1, final: 3, gas: 30e6 },
] as const;

/** Computes the section and stores it. */
export function runModel(): void {
  const { payees, gas, proofSeconds, storedBytes, servedBytes } = measured;
  const format = (count: number): string => Math.round(count).toLocaleString('en');
  const perHour = (secondsOfBatch: number): string => format((payees * 3600) / secondsOfBatch);
  const columns = ['', ...chains.map(({ name }) => name)];
  const batches = (each: (chain: (typeof chains)[number]) => string): string[] => chains.map(each);
  const speed: Table = {
    title: 'Payees an hour, in batches of 256',
    columns,
    rows: [
      [
        'one funder, one prover of two cores',
        ...batches(({ block }) => perHour(Math.max(block, proofSeconds))),
      ],
      [
        'one funder, provers enough: one batch in each block',
        ...batches(({ block }) => perHour(block)),
      ],
      [
        'provers of two cores that are enough for one funder',
        ...batches(({ block }) => format(Math.ceil(proofSeconds / block))),
      ],
      [
        `${agents} funders, one prover each`,
        ...batches(({ block, gas: limit }) =>
          perHour(
            Math.max(block / Math.floor(limit / gas), Math.max(block, proofSeconds) / agents),
          ),
        ),
      ],
      [
        'all funders, if half of each block is theirs',
        ...batches(({ block, gas: limit }) => perHour(block / Math.floor(limit / 2 / gas))),
      ],
      [
        'batches of one funder that wait for finality meanwhile',
        ...batches(({ block, final }) => format(final / Math.max(block, proofSeconds))),
      ],
    ],
  };
  const gib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const hours = (seconds: number): string => `${(seconds / 3600).toFixed(1)} h`;
  const size: Table = {
    title: `${format(notes)} notes`,
    columns: ['what', 'computed'],
    rows: [
      ["the platform's database", gib(notes * storedBytes)],
      ['what a new holder downloads to make its own paths', gib(notes * servedBytes)],
      [
        'the time of that download, at the default limit',
        hours((notes * servedBytes) / measured.servedPerSecond),
      ],
      ['the time to check it, two cores', hours(notes / measured.checkedPerSecond)],
    ],
  };
  saveSection('model', {
    title: 'A hundred agents, computed',
    ...createStamp(),
    about: `Computed, not measured: a proof of 256 in ${proofSeconds} s on two cores (four times one of 64), ${format(gas)} gas for a batch of 256, ${storedBytes} bytes stored and ${servedBytes} served for each note. Assumed: each batch is full, gets into the next block after its proof, and each funder has one token; nothing else limits (relayer keys, RPC, fees). The walls that it shows: one batch of a funder and token in each block; the gas of blocks, from ${Math.floor(36e6 / gas)} funders on; and the download of all batches by each new holder.`,
    tables: [speed, size],
  });
}
