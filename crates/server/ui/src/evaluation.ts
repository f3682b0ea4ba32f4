// The viewer of evaluations as one file: what `halma eval` writes as report.html.
import { mount } from "svelte";
import { fromFile } from "./pages/Evaluate/source";
import "./lib/texts/en-pages";
import Viewer from "./pages/Evaluate/Viewer.svelte";
import "./styles/tokens.css";
import "./styles/base.css";
import "./styles/forms.css";
import "./styles/file.css";

const place = document.getElementById("app");
const data = JSON.parse(document.getElementById("evaluation")?.textContent ?? "null");
if (place && data?.view) {
  document.title = `${data.view.report.dataset} – Halma evaluation`;
  mount(Viewer, { target: place, props: { view: data.view, source: fromFile(data) } });
}
