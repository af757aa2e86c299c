// `pnpm bench`: the rates of every `*.bench.ts` of this folder, then an agent under load, a fleet of provers, a roster in parts, many
// wallets and notes, a computed model of many agents, a platform with a hostile tenant, and whole proofs of batches and of spends.
// `pnpm bench rates|agent|browser|fleet|payroll|scale|model|hostile|prover|spends` is one of them (see their files for their
// options); `pnpm bench card <file>` stores the check of a graphics card; `pnpm bench <text>` shows the rates of the files whose names contain the text. Results with machine and date go to
// bench/RESULTS.md at the root; nothing is compared with an older run.
import { runAgentBench } from './agent/main.ts';
import { runBrowserBench } from './browser.ts';
import { runCardBench } from './card.ts';
import { runFleetBench } from './fleet.ts';
import { runHostileBench } from './hostile.ts';
import { runModel } from './model.ts';
import { runPayrollBench } from './payroll.ts';
import { runProverBench } from './prover/main.ts';
import { runRateBench } from './rates.ts';
import { runScaleBench } from './scale.ts';

const benches: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  rates: () => runRateBench(''),
  agent: runAgentBench,
  browser: runBrowserBench,
  fleet: runFleetBench,
  payroll: runPayrollBench,
  scale: runScaleBench,
  model: async () => runModel(),
  hostile: runHostileBench,
  prover: (args) => runProverBench('prover', args),
  spends: (args) => runProverBench('spends', args),
};

const [what, ...rest] = process.argv.slice(2);
if (what === 'card') await runCardBench(rest);
else if (what === undefined) for (const bench of Object.values(benches)) await bench([]);
else await (benches[what] ?? (() => runRateBench(what)))(rest);
