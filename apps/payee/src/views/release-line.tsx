/**
 * The release that runs, at the end of every view, and the question whether to run another one.
 *
 * @module
 */
import { useEffect, useState } from 'preact/hooks';
import { Button, Code, Notice } from '../parts/elements.tsx';
import type { ReleaseState } from '../release/release-messages.ts';
import { acceptRelease, openReleases } from '../release/releases.ts';
import { texts } from '../texts.ts';

/** @param folder - absolute URL of the page's files */
export function ReleaseLine({ folder }: { readonly folder: URL }) {
  const [state, setState] = useState<ReleaseState | undefined>();
  const [isPostponed, setPostponed] = useState(false);
  const look = (): void => {
    openReleases(folder).then(setState, () => undefined);
  };
  useEffect(look, []);
  if (state === undefined) return null;
  const { active, offered, isEarlier } = state;
  const { release } = texts;
  const accept = async (digest: string): Promise<void> => {
    if (await acceptRelease(digest)) location.reload();
    else look();
  };
  return (
    <footer class="no-print">
      {offered !== undefined && !isPostponed && (
        <Notice kind={isEarlier ? 'warning' : 'note'} title={release.title}>
          <p>{isEarlier ? release.earlier : release.text}</p>
          <p>
            <Code text={offered} />
          </p>
          <Button isMain={!isEarlier} onClick={() => void accept(offered)}>
            {release.accept}
          </Button>
          <Button onClick={() => setPostponed(true)}>{release.later}</Button>
        </Notice>
      )}
      <details>
        <summary>{release.active(active.slice(0, 8))}</summary>
        <p>{release.about}</p>
        <Code text={active} />
      </details>
    </footer>
  );
}
