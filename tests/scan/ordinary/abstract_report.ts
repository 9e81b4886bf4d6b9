// Reports in two forms.
abstract class Report {
  constructor(protected readonly rows: ReadonlyArray<readonly [string, number]>) {}
  abstract line(name: string, value: number): string;
  render(): string { return this.rows.map(([n, v]) => this.line(n, v)).join("\n"); }
}
class Markdown extends Report {
  line(name: string, value: number): string { return `| ${name} | ${value} |`; }
}
class Plain extends Report {
  override line(name: string, value: number): string { return `${name}: ${value}`; }
}
[new Markdown([["a", 1]]), new Plain([["b", 2]])].map((r) => r.render());
