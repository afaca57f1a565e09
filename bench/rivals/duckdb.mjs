// Answers statistics of benchmarks with DuckDB in memory, over HTTP: node duckdb.mjs ADDRESS FOLDER_OF_NDJSON
import {createServer} from 'node:http';
import {DuckDBInstance} from '@duckdb/node-api';

const [address, folder] = process.argv.slice(2);
const [host, port] = address.split(':');
const db = await (await DuckDBInstance.create(':memory:', {threads: '2'})).connect();
await db.run(`CREATE TABLE benchmarks AS SELECT * FROM read_json('${folder}/*.ndjson', format = 'newline_delimited', columns = {
  hardware: 'VARCHAR', source_url: 'VARCHAR', scenario: 'VARCHAR', run_date: 'VARCHAR', generation_tps: 'DOUBLE', withdrawn: 'JSON'})`);
const ask = await db.prepare(`SELECT hardware, count(*), count(DISTINCT coalesce(source_url, '')), min(generation_tps),
  quantile_cont(generation_tps, [0.1, 0.25, 0.5, 0.75, 0.9]), max(generation_tps), max(run_date)
  FROM benchmarks WHERE scenario IS NULL AND withdrawn IS NULL AND generation_tps >= $1 GROUP BY hardware`);

createServer(async (req, res) => {
  const least = Number(new URL(req.url, 'http://x').searchParams.get('min_tps'));
  ask.bindDouble(1, least);
  const rows = (await ask.runAndReadAll()).getRows();
  const data = rows.map((r) => ({group: {hardware: r[0]}, n: Number(r[1]), pages: Number(r[2]), min: r[3], p10: r[4].items[0], p25: r[4].items[1],
    median: r[4].items[2], p75: r[4].items[3], p90: r[4].items[4], max: r[5], newest: r[6]}));
  res.setHeader('Content-Type', 'application/json');
  res.end(JSON.stringify({data}));
}).listen(Number(port), host);
