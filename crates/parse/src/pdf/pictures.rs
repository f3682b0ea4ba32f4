//! Pictures of a PDF as files: JPEG as it is, anything else as PNG.
use hayro_interpret::hayro_syntax::Filter;
use hayro_interpret::kurbo::{Affine, Point};
use hayro_interpret::{ImageData, RasterImage};

/// Smaller pictures (in pixels) are ornaments.
const ORNAMENT: u32 = 40;
/// Larger ones are not unpacked.
const MAX_PIXELS: u64 = 50_000_000;

pub(super) struct Picture {
    pub(super) media: &'static str,
    pub(super) bytes: Vec<u8>,
    /// Of its upper edge.
    pub(super) y: f64,
}

/// The picture as a file of at most `room` bytes; `None` for ornaments and what cannot be read.
pub(super) fn encode(image: &RasterImage<'_>, place: Affine, room: usize) -> Option<Picture> {
    let (width, height) = (image.width(), image.height());
    if width < ORNAMENT || height < ORNAMENT || u64::from(width) * u64::from(height) > MAX_PIXELS {
        return None;
    }
    // The place counts in pixels of the picture.
    let (right, below) = (f64::from(width), f64::from(height));
    let corners = [(0.0, 0.0), (0.0, below), (right, 0.0), (right, below)];
    let y = corners.map(|(x, y)| (place * Point::new(x, y)).y).into_iter().fold(f64::MAX, f64::min);
    let stream = image.stream();
    let (media, bytes) = if stream.filters().as_slice() == [Filter::DctDecode] {
        ("image/jpeg", stream.raw_data().into_owned())
    } else {
        let mut bytes = None;
        image.with_rgba(|data, _| bytes = png(&data), None);
        ("image/png", bytes?)
    };
    (!bytes.is_empty() && bytes.len() <= room).then_some(Picture { media, bytes, y })
}

fn png(image: &ImageData) -> Option<Vec<u8>> {
    let (data, color) = match image {
        ImageData::Rgb(image) => (&image.data, png::ColorType::Rgb),
        ImageData::Luma(image) => (&image.data, png::ColorType::Grayscale),
    };
    let mut bytes = vec![];
    let mut encoder = png::Encoder::new(&mut bytes, image.width(), image.height());
    encoder.set_color(color);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(data).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}
