//! Timelines of entities.
use super::teams::Teams;
use crate::world::good;

#[tokio::test(flavor = "multi_thread")]
async fn a_timeline_has_dates_of_visible_documents_only() {
    let teams = Teams::start().await;
    let skell = "# Skell Light\n\nSkell Light was first lit in 1890.\n";
    teams.upload(&teams.a, &[], &[("skell.md", skell)]).await;
    teams.build(&teams.a).await;
    let dates = async |key: &str, query: &str| -> Vec<String> {
        let path = format!("/api/v1/entities/timeline?name={query}");
        let response = teams.get(key, &path).await;
        if response.status() == 404 {
            return vec!["none".into()];
        }
        let timeline = good(response).await;
        let events = timeline["events"].as_array().unwrap().iter();
        events.map(|event| event["date"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(dates(&teams.admin, "Orrin Light").await, ["1871", "1902"]);
    assert_eq!(dates(&teams.admin, "Orrin Light&document=orrin.md").await, ["1871"]);
    assert_eq!(dates(&teams.admin, "orrin light&limit=1").await, ["1871"]);
    assert_eq!(dates(&teams.admin, "Skell Light&since=2100").await, [""; 0]);
    // What two teams' documents name belongs to neither.
    for key in [&teams.a, &teams.b] {
        assert_eq!(dates(key, "Orrin Light").await, ["none"]);
    }
    assert_eq!(dates(&teams.a, "Skell Light").await, ["1890"]);
    assert_eq!(dates(&teams.b, "Skell Light").await, ["none"]);
    let wrong = teams.get(&teams.a, "/api/v1/entities/timeline?name=x&since=soon").await;
    assert_eq!(wrong.status(), 400);
}
