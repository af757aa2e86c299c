// The checks of `pnpm check` that are our own code. Each returns a list of problems, which is empty if there is none,
// and changes nothing.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { listWorkspacePackages, type PackageJson, readManifest } from './workspace.ts';

// Words that name one machine or one person's tools and mean nothing to a reader of this repository.
// The list is encoded so that this file passes its own check.

const encoded = [
  'c2hhcmVkLw==',
  'LmxpYnJhcnk=',
  'ZmFybS1iZW5jaA==',
  'c3ViYWdlbnQ=',
  'L3dvcmsvbWFpbg==',
];

function decode(text: string): string {
  return Buffer.from(text, 'base64').toString('utf8');
}

/** The words, matched without regard to case and not inside a longer path segment or word. */
export const bannedWords: readonly string[] = encoded.map(decode);

function escapeForRegExp(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/]/g, '\\$&');
}

const pattern = new RegExp(`(?<![\\w-])(?:${bannedWords.map(escapeForRegExp).join('|')})`, 'i');

interface BannedWord {
  /** 1-based. */
  readonly line: number;
  readonly word: string;
}

/** Every line of a text with a banned word. */
export function findBannedWords(text: string): BannedWord[] {
  return text.split('\n').flatMap((line, index) => {
    const word = pattern.exec(line)?.[0];
    return word === undefined ? [] : [{ line: index + 1, word }];
  });
}

/** Licences that let an MIT package depend on them, as package.json files spell them. */
const permissive: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  '(MIT OR CC0-1.0)',
]);

/** What `pnpm licenses list --json` prints: packages by licence. */
type Licences = Readonly<Record<string, readonly { readonly name: string }[]>>;

/** Packages with any other licence. A new permissive licence is added to the list by a person who read it. */
export function findLicenceProblems(licences: Licences): string[] {
  return Object.entries(licences).flatMap(([licence, packages]) =>
    permissive.has(licence)
      ? []
      : packages.map(({ name }) => `${name}: licence ${licence} is not on the list`),
  );
}

/** Licences of everything that a user of our packages installs. */
export function checkAllLicences(root: string): string[] {
  const output = execFileSync(
    'npx',
    ['--yes', 'pnpm@10.34.9', 'licenses', 'list', '--prod', '--json', '--recursive'],
    { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const licences = JSON.parse(output) as Licences;
  return findLicenceProblems(licences);
}

/** Paths of the files git tracks, relative to the root. */
function listTrackedFiles(root: string): string[] {
  const output = execFileSync('git', ['ls-files', '-z'], { cwd: root, encoding: 'utf8' });
  return output.split('\0').filter((path) => path !== '');
}

/** Words that mean nothing outside one machine, in the names and texts of tracked files. */
export function checkBannedWords(root: string): string[] {
  return listTrackedFiles(root).flatMap((path) => {
    const complaints = findBannedWords(path).map(({ word }) => `${path}: its name has "${word}"`);
    const file = join(root, path);
    if (!existsSync(file) || !statSync(file).isFile()) return complaints;
    const bytes = readFileSync(file);
    if (bytes.includes(0)) return complaints;
    return complaints.concat(
      findBannedWords(bytes.toString('utf8')).map(
        ({ line, word }) => `${path}:${line}: has the word "${word}"`,
      ),
    );
  });
}

/** The files that every package has in addition to its code. */
export function checkPackageFiles(root: string): string[] {
  const { homepage = '', repository } = readManifest(root);
  const address = { page: homepage.replace(/#.*$/, ''), url: repository?.url };
  const packages = listWorkspacePackages(root);
  const hidden = new Set(packages.flatMap(({ name, isPrivate }) => (isPrivate ? [name] : [])));
  return packages.flatMap(({ dir, manifest, isPrivate }) => {
    const where = relative(root, dir);
    const complaints: string[] = [];
    if (!existsSync(join(dir, 'README.md'))) complaints.push('has no README.md');
    if (manifest.license !== 'MIT') complaints.push('its licence is not MIT');
    if (!isPrivate) {
      complaints.push(...checkPublishedManifest(manifest, where, address));
      for (const name of Object.keys(manifest.dependencies ?? {})) {
        if (hidden.has(name))
          complaints.push(`is published and depends on ${name}, which is private`);
      }
    }
    return complaints.map((complaint) => `${where}: ${complaint}`);
  });
}

/** The fields that a registry shows and that bundlers read. The addresses are those of the root's manifest. */
function checkPublishedManifest(
  {
    scripts,
    description,
    keywords,
    homepage,
    bugs,
    repository,
    sideEffects,
    exports,
    publishConfig,
    bin = {},
  }: PackageJson,
  where: string,
  { page, url }: { readonly page: string; readonly url: string | undefined },
): string[] {
  const holds: Readonly<Record<string, boolean>> = {
    'is published but has no build script': scripts?.['build'] !== undefined,
    'is published without provenance (publishConfig)': publishConfig?.provenance === true,
    'has no description': (description ?? '') !== '',
    'has fewer than three keywords': (keywords ?? []).length >= 3,
    'does not export ./package.json': exports?.['./package.json'] === './package.json',
    'does not say which files have side effects': sideEffects !== undefined,
    // pnpm links the commands of a package wherever it is a dependency, and warns at the first install about a file of the build.
    'has a command in dist, which a fresh clone does not have; put it in bin':
      !where.startsWith('packages/') ||
      Object.values(typeof bin === 'string' ? { bin } : bin).every(
        (path) => !path.startsWith('./dist/'),
      ),
    [`homepage is not ${page}/tree/main/${where}#readme`]:
      homepage === `${page}/tree/main/${where}#readme`,
    [`bugs.url is not ${page}/issues`]: bugs?.url === `${page}/issues`,
    [`repository is not ${url} with the directory ${where}`]:
      url !== undefined && repository?.url === url && repository.directory === where,
  };
  return Object.keys(holds).filter((complaint) => holds[complaint] === false);
}
