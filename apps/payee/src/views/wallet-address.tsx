/**
 * Takes an address for withdrawals from a wallet of the browser's extensions.
 *
 * @module
 */
import type { EvmAddress } from '@pool/core';
import { useState } from 'preact/hooks';
import {
  type BrowserWallet,
  findBrowserWallets,
  readWalletAddress,
} from '../model/browser-wallets.ts';
import { Button, Foreign, Notice } from '../parts/elements.tsx';
import { useTask } from '../parts/task.tsx';
import { texts } from '../texts.ts';

export function WalletAddress({
  onAddress,
}: {
  readonly onAddress: (address: EvmAddress, wallet: string) => void;
}) {
  const task = useTask();
  const [wallets, setWallets] = useState<readonly BrowserWallet[]>();
  const [problem, setProblem] = useState<'refused' | 'not-signed'>();
  const { browserWallet: words } = texts.withdraw;
  return (
    <section>
      <Button
        isDisabled={task.isBusy}
        onClick={() => task.run(async () => setWallets(await findBrowserWallets()))}
      >
        {words.find}
      </Button>
      {wallets?.length === 0 && <Notice kind="note">{words.none}</Notice>}
      {wallets !== undefined && wallets.length > 0 && (
        <>
          <p class="hint">{words.asks}</p>
          {wallets.map((wallet) => (
            <Button
              key={wallet.id}
              isDisabled={task.isBusy}
              onClick={() =>
                task.run(async () => {
                  const answer = await readWalletAddress(wallet);
                  setProblem(answer.kind === 'address' ? undefined : answer.kind);
                  if (answer.kind === 'address') onAddress(answer.address, wallet.name);
                })
              }
            >
              <Foreign text={wallet.name} />
            </Button>
          ))}
          <p class="hint">{words.why}</p>
        </>
      )}
      {problem !== undefined && <Notice kind="failure">{words.problems[problem]}</Notice>}
    </section>
  );
}
