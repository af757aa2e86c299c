process.stdout.write(`node ${process.version}\n`);
