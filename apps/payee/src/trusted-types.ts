/**
 * What the page's policy (`require-trusted-types-for 'script'`) lets code of the page load: programs of workers that lie beside it.
 * Nothing makes HTML or scripts from text.
 *
 * @module
 */

type Policies = {
  createPolicy(
    name: 'default',
    rules: { readonly createScriptURL: (url: string) => string | undefined },
  ): void;
};

/**
 * Installs the default policy, in the page and in each worker that starts workers. A browser without Trusted Types has none.
 * @param folder - absolute URL of the page's files
 */
export function allowOwnScripts(folder: URL): void {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: Policies };
  trustedTypes?.createPolicy('default', {
    createScriptURL: (url) => (isOwnScript(url, folder) ? url : undefined),
  });
}

/** True for a script in the folder of the page, without a query that could choose what it does. */
export function isOwnScript(text: string, folder: URL): boolean {
  if (!URL.canParse(text, folder.href)) return false;
  const url = new URL(text, folder);
  return (
    url.origin === folder.origin &&
    url.pathname.startsWith(folder.pathname) &&
    url.pathname.endsWith('.js') &&
    url.search === ''
  );
}
