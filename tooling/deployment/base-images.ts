// The base images of compose.yaml, made of Debian's packages instead of taken from a registry of images: none is asked. One image is
// Node's and the proxy's. That of PostgreSQL has an entrypoint that does what compose.yaml needs of the official one.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runCommand } from './command.ts';

export const baseImages = {
  node: 'localhost/pool-check-base',
  postgres: 'localhost/pool-check-postgres',
} as const;

const packages = ['libstdc++6', 'ca-certificates', 'postgresql', 'caddy'];

const entrypoint = `#!/bin/sh
set -eu
PATH="$(echo /usr/lib/postgresql/*/bin):$PATH"
data=/var/lib/postgresql/data
if [ "$(id -u)" = 0 ]; then
  chown postgres:postgres "$data" /var/run/postgresql
  chmod 0700 "$data"
  chmod 3777 /var/run/postgresql
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0"
fi
if [ ! -s "$data/PG_VERSION" ]; then
  initdb --pgdata="$data" --username=postgres --pwfile="$POSTGRES_PASSWORD_FILE" $POSTGRES_INITDB_ARGS >/dev/null
  export PGPASSWORD="$(cat "$POSTGRES_PASSWORD_FILE")"
  pg_ctl --pgdata="$data" --options="-c listen_addresses=''" --wait start >/dev/null
  for script in /docker-entrypoint-initdb.d/*.sh; do . "$script"; done
  pg_ctl --pgdata="$data" --mode=fast --wait stop >/dev/null
  unset PGPASSWORD
fi
exec postgres -D "$data"
`;

// 999 is the server's group in the official image, which the secrets are readable for.
const containerfile = `FROM scratch AS base
ADD base.tar /
COPY node /usr/local/bin/node
FROM base AS postgres
COPY entrypoint /usr/local/bin/entrypoint
RUN groupmod --non-unique --gid 999 postgres \\
 && ln -s /usr/lib/postgresql/*/bin/pg_isready /usr/local/bin/ \\
 && mkdir -p /var/lib/postgresql/data /var/run/postgresql
ENTRYPOINT ["/usr/local/bin/entrypoint"]
`;

/** Makes the images unless they are there. */
export async function makeBaseImages(folder: string, env: NodeJS.ProcessEnv): Promise<void> {
  try {
    for (const image of Object.values(baseImages)) {
      await runCommand(['podman', 'image', 'exists', image], { env });
    }
    return;
  } catch {
    // One is missing.
  }
  const context = join(folder, 'base');
  mkdirSync(context);
  const tar = join(context, 'base.tar');
  const include = `--include=${packages.join(',')}`;
  await runCommand(['mmdebstrap', '--variant=essential', include, 'bookworm', tar], { env });
  copyFileSync(process.execPath, join(context, 'node'));
  writeFileSync(join(context, 'entrypoint'), entrypoint, { mode: 0o755 });
  writeFileSync(join(context, 'Containerfile'), containerfile);
  for (const [target, image] of [
    ['base', baseImages.node],
    ['postgres', baseImages.postgres],
  ] as const) {
    await runCommand(
      ['buildah', 'bud', '--isolation', 'chroot', '--target', target, '--tag', image, context],
      { env },
    );
  }
}
