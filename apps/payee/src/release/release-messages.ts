/** What the service worker tells the page of releases. Digests are the SHA-256 of `release.json`, in hex. */
export type ReleaseState = {
  /** What this browser runs until its user accepts another one. */
  readonly active: string;
  /** What the server has now, where it is another one. All its files were read and have the digests of its list. */
  readonly offered: string | undefined;
  /** This browser ran the offered release before: it is perhaps an older one. */
  readonly isEarlier: boolean;
};

export type ReleaseRequest =
  | { readonly kind: 'state' }
  | { readonly kind: 'accept'; readonly digest: string }
  /** Reads files that the server has beside the release, so that they are kept. Answered when all are. */
  | { readonly kind: 'keep'; readonly files: readonly string[] };
