// Prometheus beside the services of a deployment, with the alert rules and the dashboard's expressions of docs/operations/monitoring.
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export interface Watched {
  readonly service: string;
  /** Of its metrics. */
  readonly url: string;
  /** What opens them, and nothing else. */
  readonly token: string;
}

export interface Watch {
  readonly port: number;
  readonly watched: readonly Watched[];
  /** Runs a command where Prometheus runs. @returns standard output. Throws if it fails */
  run(command: readonly string[]): Promise<string>;
}

type Sample = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: [number, string];
};

const monitoring = resolve(import.meta.dirname, '../../docs/operations/monitoring');

/** @returns the command that starts it */
export function createWatchCommand(
  { port, watched }: Pick<Watch, 'port' | 'watched'>,
  place: { readonly folder: string; readonly authority: string },
): readonly string[] {
  const config = join(place.folder, 'prometheus.yml');
  // JSON is YAML.
  const text = JSON.stringify({
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: [join(monitoring, 'alerts.yml')],
    scrape_configs: watched.map(({ service, url, token }) => ({
      job_name: `pool-${service}`,
      scheme: new URL(url).protocol.slice(0, -1),
      metrics_path: new URL(url).pathname,
      authorization: { credentials: token },
      tls_config: { ca_file: place.authority },
      static_configs: [{ targets: [new URL(url).host] }],
    })),
  });
  writeFileSync(config, text, { mode: 0o600 });
  return [
    'prometheus',
    ...[`--config.file=${config}`, `--storage.tsdb.path=${join(place.folder, 'data')}`],
    ...[`--web.listen-address=127.0.0.1:${port}`, '--log.level=warn'],
  ];
}

/**
 * Asks until every service was read after this call, and then for the alerts and the dashboard.
 * @returns the titles of the panels that show something. Throws if a service cannot be read, an alert holds, or an expression is refused
 */
export async function readWatch(watch: Watch): Promise<readonly string[]> {
  const since = Date.now() / 1_000;
  const seen = `count(up == 1 and timestamp(up) > ${since})`;
  const deadline = Date.now() + 60_000;
  while ((await ask(watch, seen))[0]?.value[1] !== String(watch.watched.length)) {
    if (Date.now() > deadline) {
      throw new Error(`Prometheus does not read ${JSON.stringify(await ask(watch, 'up'))}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  const alerts = await ask(watch, 'ALERTS');
  if (alerts.length > 0) {
    throw new Error(`alerts of a deployment without a fault: ${JSON.stringify(alerts)}`);
  }
  const { panels } = JSON.parse(readFileSync(join(monitoring, 'dashboard.json'), 'utf8')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets?: readonly { readonly expr: string }[];
    }[];
  };
  const shown: string[] = [];
  for (const { title, targets = [] } of panels) {
    for (const { expr } of targets) {
      if ((await ask(watch, expr)).length > 0) shown.push(title);
    }
  }
  return shown;
}

async function ask({ port, run }: Watch, expression: string): Promise<readonly Sample[]> {
  const server = `http://127.0.0.1:${port}`;
  const command = ['promtool', 'query', 'instant', '-o', 'json', server, expression];
  try {
    return JSON.parse(await run(command)) as readonly Sample[];
  } catch (error) {
    // It may not listen yet.
    if (String(error).includes('connection refused')) return [];
    throw error;
  }
}
