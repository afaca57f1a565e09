// Answers statistics of benchmarks with DuckDB on one thread, from a Parquet file it wrote itself.
//
//	node stats.mjs FOLDER_OF_NDJSON PARQUET_FILE ROUNDS GROUPS...
//
// GROUPS are fields joined by commas. It prints one JSON object: version, seconds of processor time of each round and
// the groups of each question.
import {DuckDBInstance} from '@duckdb/node-api';

const [folder, parquet, rounds, ...questions] = process.argv.slice(2);
const settings = ['tool', 'quantization', 'backend', 'tool_version', 'concurrency', 'hardware_count', 'context_depth', 'n_prompt', 'n_gen',
  'speculative_decoding', 'partial_offload', 'flash_attention', 'rate_basis', 'compute_unit', 'power_basis'];
const numbers = ['concurrency', 'hardware_count', 'context_depth', 'n_prompt', 'n_gen'];
const flags = ['speculative_decoding', 'partial_offload', 'flash_attention'];
const type = (f) => numbers.includes(f) ? 'BIGINT' : flags.includes(f) ? 'BOOLEAN' : 'VARCHAR';
const columns = {model: 'VARCHAR', hardware: 'VARCHAR', source_url: 'VARCHAR', scenario: 'VARCHAR', run_date: 'VARCHAR', generation_tps: 'DOUBLE'};
for (const f of settings) columns[f] = type(f);

const instance = await DuckDBInstance.create(':memory:', {threads: '1'});
const db = await instance.connect();
const spec = Object.entries(columns).map(([name, type]) => `${name}: '${type}'`).join(', ');
await db.run(`COPY (SELECT * FROM read_json('${folder}/*.ndjson', format = 'newline_delimited', columns = {${spec}})) TO '${parquet}' (FORMAT parquet, COMPRESSION zstd)`);

// A setting is shared if it is unknown in all rows, or known in all and equal.
const differs = settings.map((f) => `count(${f}) NOT IN (0, count(*)) OR min(${f}) IS DISTINCT FROM max(${f}) AS differs_${f}`).join(', ');
const out = {version: (await (await db.runAndReadAll('SELECT version()')).getRows())[0][0], questions: []};
for (const by of questions) {
  const sql = `SELECT concat_ws('|', ${by}), count(*), count(DISTINCT coalesce(source_url, '')),
    min(generation_tps), quantile_cont(generation_tps, [0.1, 0.25, 0.5, 0.75, 0.9]), max(generation_tps), max(run_date), ${differs}
    FROM '${parquet}' WHERE scenario IS NULL AND generation_tps IS NOT NULL GROUP BY ${by}`;
  const seconds = [];
  let rows;
  for (let i = 0; i < Number(rounds); i++) {
    const began = process.cpuUsage();
    rows = await db.runAndReadAll(sql);
    const used = process.cpuUsage(began);
    seconds.push((used.user + used.system) / 1e6);
  }
  const groups = {};
  for (const r of rows.getRows()) {
    groups[r[0]] = {n: Number(r[1]), pages: Number(r[2]), quantiles: [r[3], ...r[4].items, r[5]], differ: settings.filter((_, i) => r[7 + i])};
  }
  out.questions.push({by, seconds, groups});
}
console.log(JSON.stringify(out));
