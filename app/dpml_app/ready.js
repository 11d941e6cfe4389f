// The last of the page's scripts: all that is clicked from now on is heard, and what was clicked before is clicked again.
{
  const tools = document.getElementById("tools")
  tools.dataset.ready = ""
  tools.dispatchEvent(new Event("ready"))
}
